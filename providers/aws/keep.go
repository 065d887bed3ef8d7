package aws

import "bytes"

// keepRule names what keepAccelerated keeps.
const keepRule = "accelerated-1"

// keepAccelerated returns what the archive keeps of a CSV list too large to be
// kept whole: the lines before the first price row and every line that names an
// accelerated family or type, byte for byte.
func keepAccelerated(table families) func(line []byte) bool {
	labels := make([][]byte, 0, 4)
	for label := range acceleratedFamilies() {
		labels = append(labels, []byte(`"`+label+`"`))
	}
	inHead := true
	return func(line []byte) bool {
		if inHead {
			inHead = !bytes.HasPrefix(line, []byte(`"SKU",`))
			return true
		}
		for _, l := range labels {
			if bytes.Contains(line, l) {
				return true
			}
		}
		return namesType(line, table)
	}
}

// namesType reports whether a usage type in the line names a type of the table:
// …:p5.48xlarge".
func namesType(line []byte, table families) bool {
	for rest := line; ; {
		i := bytes.IndexByte(rest, ':')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return false
		}
		if dot := bytes.IndexByte(rest[:end], '.'); dot > 0 {
			if _, ok := table[string(rest[:dot])]; ok {
				return true
			}
		}
	}
}
