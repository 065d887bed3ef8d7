package normalize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Match returns the slugs a pattern names, in the order of the table. A pattern
// is a whole slug, a model or a model with its variant, as the fields of the
// catalogue have them and not as a piece of a slug; or an alias, which names
// every card it describes. Case and punctuation do not matter. It reports false
// when nothing is named; [Catalogue.Near] then helps.
func (c *Catalogue) Match(pattern string) ([]string, bool) {
	if len(pattern) > maxName {
		return nil, false
	}
	pattern = plainHan(pattern)
	key := fold(pattern)
	cards := c.names[key]
	if len(cards) == 0 {
		cards = c.described(spell(pattern))
	}
	if len(cards) == 0 {
		cards = c.exact[key]
	}
	slugs := make([]string, 0, len(cards))
	for _, k := range cards {
		slugs = append(slugs, k.slug)
	}
	return slugs, len(slugs) > 0
}

// described returns every card a spelling may mean, assuming nothing it does not
// say.
func (c *Catalogue) described(sp spelling) []*card {
	spellings := []spelling{sp}
	ev := evidence{fraction: 1}
	if sp.memory > 0 && !sp.sliced {
		ev.stated = []claim{{mib: sp.memory * 1024}}
	}
	family := c.cores[sp.core]
	cards := byMemoryType(byForm(family, spellings), spellings)
	cards, _ = c.byMemory(family, cards, spellings, &ev)
	return byVariant(cards, spellings)
}

// Near returns up to n slugs and models that a mistyped pattern may have meant,
// the nearest first.
func (c *Catalogue) Near(pattern string, n int) []string {
	const longest = 64
	pattern = strings.ToLower(plainHan(pattern))
	if len(pattern) > longest || fold(pattern) == "" {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	best := make(map[string]int)
	consider := func(name, spelled string) {
		d := levenshtein.ComputeDistance(pattern, strings.ToLower(spelled))
		if d > max(2, len(pattern)/3) {
			return
		}
		if old, ok := best[name]; !ok || d < old {
			best[name] = d
		}
	}
	for i := range c.cards {
		k := &c.cards[i]
		consider(k.slug, k.slug)
		consider(k.model, k.model)
		for a := range strings.SplitSeq(k.details.aliases, ";") {
			consider(k.slug, a)
		}
	}
	var found []candidate
	for name, d := range best {
		found = append(found, candidate{name, d})
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(n, len(found))] {
		out = append(out, f.name)
	}
	return out
}
