package gcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	typesPerPage = "500" // the most the API gives

	// maxTypePages bounds the pages of machine types: about 40,000 types in 130
	// zones.
	maxTypePages = 1000

	mibPerGiB = 1024
)

// sold says which region has which instance type; nil where that is not known.
type sold map[string]map[string]bool

func (s sold) add(instanceType, region string) {
	if s[instanceType] == nil {
		s[instanceType] = map[string]bool{}
	}
	s[instanceType][region] = true
}

// in reports whether an instance type may be had in a region, as far as is
// known.
func (s sold) in(instanceType, region string) bool { return s == nil || s[instanceType][region] }

// types reads from the Compute API what there is and where, each list from its
// own source. Without one nothing is concluded from it.
func (r *run) types(ctx context.Context) error {
	var failed []error
	for _, s := range []struct {
		id, list string
		end      func(*typeList) error
	}{{sourceTypes, "machineTypes", r.endMachines}, {sourceCards, "acceleratorTypes", r.endCards}} {
		l := typeList{table: r.table, sold: sold{}, specs: map[string]gputide.Spec{}}
		err := r.signIn(ctx)
		if err == nil {
			err = r.aggregated(ctx, s.id, s.list, &l)
		}
		if err == nil {
			err = s.end(&l)
		}
		switch {
		case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
			r.b.Source(s.id, gputide.SourceSkipped, err)
		case err != nil:
			r.b.Source(s.id, gputide.SourceFailed, err)
			failed = append(failed, err)
		default:
			r.b.Source(s.id, gputide.SourceOK, nil)
		}
	}
	return errors.Join(failed...)
}

// signIn gets what the Compute API is asked with, once a crawl.
func (r *run) signIn(ctx context.Context) (err error) {
	switch {
	case r.bearer != "":
		return nil
	case r.http.Replaying():
		r.project, r.bearer = "replay", "replay"
		return nil
	case !r.cfg.canSignIn():
		return &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + strings.Join(accountEnv(), ", ")}
	}
	r.project = r.cfg.Project
	r.bearer, err = r.token(ctx, r.b.At())
	return err
}

// aggregated reads a list of all zones, page by page.
func (r *run) aggregated(ctx context.Context, source, list string, l *typeList) error {
	tokens := map[string]bool{}
	base := typesURL + url.PathEscape(r.project) + "/aggregated/" + list + "?maxResults=" + typesPerPage
	address := base
	for page := 1; ; page++ {
		if page > maxTypePages {
			return drift(source, "nextPageToken", fmt.Sprintf("an end within %d pages", maxTypePages), address)
		}
		var answer zonePage
		_, err := r.http.JSON(ctx, fetch.Request{
			Source: source, URL: address, Header: map[string][]string{"Authorization": {"Bearer " + r.bearer}},
		}, &answer)
		if err != nil {
			return err
		}
		if answer.Items == nil {
			return drift(source, "items", "an object", "none")
		}
		for zone, z := range answer.Items {
			l.take(zone, &z)
		}
		next := answer.NextPageToken
		switch {
		case next == "":
			return nil
		case tokens[next]:
			return drift(source, "nextPageToken", "a new token", next)
		}
		tokens[next], address = true, base+"&pageToken="+url.QueryEscape(next)
	}
}

// endMachines keeps the machine types once all were read: half a list would make
// the other half look unsold.
func (r *run) endMachines(l *typeList) error {
	switch {
	case len(l.sold) == 0:
		return drift(sourceTypes, "items.*.machineTypes[].name", "machine types", "none in any zone")
	case l.accelerated == 0:
		return drift(sourceTypes, "items.*.machineTypes[].accelerators", "it in some machine type", fmt.Sprintf("none of %d", len(l.sold)))
	}
	r.sold = l.sold
	for _, s := range l.specs {
		r.b.Spec(s)
	}
	return nil
}

// endCards keeps the accelerator types once all were read.
func (r *run) endCards(l *typeList) error {
	switch {
	case l.cards == 0:
		return drift(sourceCards, "items.*.acceleratorTypes[].name", "accelerator types", "none in any zone")
	case l.bounded == 0:
		return drift(sourceCards, "items.*.acceleratorTypes[].maximumCardsPerInstance", "it in some accelerator type", fmt.Sprintf("none of %d", l.cards))
	}
	r.cards = l.sold
	return nil
}

// typeList is what was read of the types of all zones.
type typeList struct {
	table          *table
	sold           sold
	specs          map[string]gputide.Spec // of accelerated machine types
	accelerated    int
	cards, bounded int // accelerator types, and those with a maximum
}

// take takes what one zone has: "zones/us-central1-a".
func (l *typeList) take(zone string, z *zoneTypes) {
	zone = strings.TrimPrefix(zone, "zones/")
	cut := strings.LastIndexByte(zone, '-')
	if cut <= 0 {
		return
	}
	region := zone[:cut]
	for i := range z.MachineTypes {
		if t := &z.MachineTypes[i]; t.Name != "" && !t.Deprecated.gone() {
			l.takeMachine(region, t)
		}
	}
	for i := range z.AcceleratorTypes {
		if t := &z.AcceleratorTypes[i]; t.Name != "" && !t.Deprecated.gone() {
			l.takeCards(region, t)
		}
	}
}

func (l *typeList) takeMachine(region string, t *machineType) {
	l.sold.add(t.Name, region)
	known := l.table.byName[t.Name]
	if len(t.Accelerators) > 0 {
		l.accelerated++
	} else if known == nil {
		return
	}
	if _, done := l.specs[t.Name]; !done {
		l.specs[t.Name] = t.spec(known)
	}
}

// takeCards takes cards that can be attached to a machine, as many as one takes.
func (l *typeList) takeCards(region string, t *acceleratorType) {
	l.cards++
	if t.Most != nil {
		l.bounded++
	}
	a := l.table.byRate[t.Name]
	if a == nil {
		return
	}
	for _, n := range a.counts {
		if t.Most == nil || n <= *t.Most {
			l.sold.add(a.instanceType(n), region)
		}
	}
}

// spec returns what the API says of a machine type. It has no fractions of a
// card: of a slice the table says what it is.
func (t *machineType) spec(known *machine) gputide.Spec {
	s := gputide.Spec{Source: sourceTypes, InstanceType: t.Name, VCPU: t.CPUs}
	if t.MemoryMB != nil {
		s.MemoryGiB = new(*t.MemoryMB / mibPerGiB)
	}
	switch t.Architecture {
	case "X86_64":
		s.CPUArch = "x86_64"
	case "ARM64":
		s.CPUArch = "arm64"
	}
	if len(t.Accelerators) == 1 && (known == nil || known.count.Den == 1) {
		a := &t.Accelerators[0]
		s.Device = gputide.Device{Name: a.Type, Count: gputide.NewCount(a.Count, 1), Share: gputide.ShareWhole}
	}
	return s
}
