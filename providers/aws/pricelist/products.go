package pricelist

import "github.com/gputide/gputide"

// Products is what a list says of its products, by SKU and compactly: savings
// plans discount those and name nothing but the SKU. The zero value is
// empty and ready; give it to the reading of one region as Options.Products.
type Products struct {
	bySKU map[string]productRef
	kinds []productKind // distinct
	ids   map[productKind]uint32
	types map[string]*Type // of the products that are offers
}

// productRef is one product.
type productRef struct {
	typ  *Type // nil when it is no offer
	kind uint32
}

// productKind is what many products have in common: the rest of their key, or
// why they are no offers.
type productKind struct{ os, license, tenancy, omit, skip string }

// Len returns the number of products.
func (ps *Products) Len() int { return len(ps.bySKU) }

// Types returns the instance types of the products that are offers, by name. It
// must not be changed.
func (ps *Products) Types() map[string]*Type { return ps.types }

// add takes a product.
func (ps *Products) add(sku string, p *product) {
	if ps.bySKU == nil {
		ps.bySKU, ps.ids, ps.types = map[string]productRef{}, map[productKind]uint32{}, map[string]*Type{}
	}
	kind := productKind{omit: p.omit, skip: p.skip}
	if p.typ != nil {
		kind.os, kind.license, kind.tenancy = p.key.OS, p.key.License, p.key.Tenancy
		ps.types[p.typ.Name] = p.typ
	}
	id, ok := ps.ids[kind]
	if !ok {
		id = uint32(len(ps.kinds))
		ps.ids[kind] = id
		ps.kinds = append(ps.kinds, kind)
	}
	ps.bySKU[sku] = productRef{typ: p.typ, kind: id}
}

// find returns what is known of a product. ok is false for a SKU the list does
// not have.
func (ps *Products) find(sku []byte) (typ *Type, kind productKind, ok bool) {
	ref, ok := ps.bySKU[string(sku)]
	if !ok {
		return nil, productKind{}, false
	}
	return ref.typ, ps.kinds[ref.kind], true
}

// fill completes a key with what the product says.
func (kind *productKind) fill(typ *Type, k *gputide.Key) {
	k.InstanceType, k.OS, k.License, k.Tenancy = typ.Name, kind.os, kind.license, kind.tenancy
}
