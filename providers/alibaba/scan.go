package alibaba

import "bytes"

// scan reads an entry of the usual form: an object of no members but the lists,
// each of objects of the two texts, without escapes. It reports false for any
// other form, which [slow] reads; on the usual one both agree (FuzzScan). It is
// there because a list has some hundred thousand entries.
func scan(raw []byte, e *entryLists) bool {
	e.reset()
	s := scanner{rest: raw}
	if !s.take('{') {
		return false
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return false
		}
		name, ok := s.text()
		if !ok || !s.take(':') {
			return false
		}
		kind := kindOf(name)
		if kind < 0 || e.lists[kind].named || !s.points(&e.lists[kind]) {
			return false
		}
	}
	return s.end()
}

// kindOf returns the kind of a list by its name, -1 for another member.
func kindOf(name []byte) int {
	switch string(name) {
	case "hours":
		return hours
	case "months":
		return months
	case "years":
		return years
	}
	return -1
}

type scanner struct{ rest []byte }

// take passes over blanks and c.
func (s *scanner) take(c byte) bool {
	s.blanks()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) blanks() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\t' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

// text reads a string of printable ASCII without escapes.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	i := bytes.IndexByte(s.rest, '"')
	if i < 0 {
		return nil, false
	}
	t := s.rest[:i]
	for _, c := range t {
		if c < ' ' || c > '~' || c == '\\' {
			return nil, false
		}
	}
	s.rest = s.rest[i+1:]
	return t, true
}

func (s *scanner) points(l *pointList) bool {
	l.named = true
	if !s.take('[') {
		return false
	}
	for first := true; !s.take(']'); first = false {
		if !first && !s.take(',') {
			return false
		}
		l.points = append(l.points, point{})
		if !s.point(&l.points[len(l.points)-1]) {
			return false
		}
	}
	return true
}

func (s *scanner) point(p *point) bool {
	if !s.take('{') {
		return false
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return false
		}
		name, ok := s.text()
		if !ok || !s.take(':') {
			return false
		}
		v, ok := s.text()
		if !ok {
			return false
		}
		switch {
		case string(name) == "price" && !p.price.given:
			p.price = value{text: string(v), given: true}
		case string(name) == "period" && !p.period.given:
			p.period = value{text: string(v), given: true}
		default:
			return false
		}
	}
	return true
}

func (s *scanner) end() bool {
	s.blanks()
	return len(s.rest) == 0
}
