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

// sold says which region has which machine type; nil where that is not known.
type sold map[string]map[string]bool

// in reports whether a machine type may be had in a region, as far as is known.
func (s sold) in(instanceType, region string) bool { return s == nil || s[instanceType][region] }

// types reads the machine types from the Compute API.
func (r *run) types(ctx context.Context) error {
	err := r.readTypes(ctx)
	switch {
	case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(sourceTypes, gputide.SourceSkipped, err)
		return nil
	case err != nil:
		r.b.Source(sourceTypes, gputide.SourceFailed, err)
		return err
	}
	r.b.Source(sourceTypes, gputide.SourceOK, nil)
	return nil
}

func (r *run) readTypes(ctx context.Context) error {
	project, token := r.cfg.Project, r.cfg.AccessToken
	switch {
	case r.http.Replaying():
		project, token = "replay", "replay"
	case project == "" || token == "":
		return &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + envToken + " and " + envProject}
	}
	base := typesURL + url.PathEscape(project) + "/aggregated/machineTypes?maxResults=" + typesPerPage
	l := typeList{table: r.table, sold: sold{}, specs: map[string]gputide.Spec{}}
	tokens := map[string]bool{}
	address := base
	for page := 1; ; page++ {
		if page > maxTypePages {
			return drift(sourceTypes, "nextPageToken", fmt.Sprintf("an end within %d pages", maxTypePages), address)
		}
		var list machineTypes
		_, err := r.http.JSON(ctx, fetch.Request{
			Source: sourceTypes, URL: address, Header: map[string][]string{"Authorization": {"Bearer " + token}},
		}, &list)
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		if list.Items == nil {
			return drift(sourceTypes, "items", "an object", "none")
		}
		for zone, z := range list.Items {
			for i := range z.MachineTypes {
				l.take(zone, &z.MachineTypes[i])
			}
		}
		next := list.NextPageToken
		switch {
		case next == "":
			return r.endTypes(&l)
		case tokens[next]:
			return drift(sourceTypes, "nextPageToken", "a new token", next)
		}
		tokens[next], address = true, base+"&pageToken="+url.QueryEscape(next)
	}
}

// endTypes keeps what was read once all of it was: half a list would make the
// other half look unsold.
func (r *run) endTypes(l *typeList) error {
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

// typeList is what was read of the machine types of all zones.
type typeList struct {
	table       *table
	sold        sold
	specs       map[string]gputide.Spec // of accelerated types
	accelerated int
}

// take takes a machine type of one zone: "zones/us-central1-a".
func (l *typeList) take(zone string, t *machineType) {
	switch t.Deprecated.State {
	case "OBSOLETE", "DELETED": // none can be made any more
		return
	}
	zone = strings.TrimPrefix(zone, "zones/")
	cut := strings.LastIndexByte(zone, '-')
	if t.Name == "" || cut <= 0 {
		return
	}
	if l.sold[t.Name] == nil {
		l.sold[t.Name] = map[string]bool{}
	}
	l.sold[t.Name][zone[:cut]] = true
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
