package frame

import (
	"bytes"
	"slices"
)

// part is a member of a line being learned: where its value stands.
type part struct {
	m          member
	start, end int
}

// has reports whether the line that was just read has the member.
func (d *Decoder) has(m member) bool {
	for _, p := range d.parts {
		if p.m == m {
			return true
		}
	}
	return false
}

// part notes a member of the line being read, for its shape. Its value ends at s.i.
func (d *Decoder) part(m member, begin int, s *scanner) {
	if len(d.parts) >= maxShapeParts || formOf(m, s.b[begin]) == unfit {
		d.unfit = true
		return
	}
	d.parts = append(d.parts, part{m, begin, s.i})
}

// learn adds the shape of a line that the decoder read as f. parts are its members in order.
func (s *shapes) learn(line []byte, parts []part, f *Frame) {
	if len(parts) == 0 || s.count >= maxShapes || bytes.IndexByte(line, '\n') >= 0 {
		return // (a line end within the line: such a line is several to a reader of lines)
	}
	node, from := &s.root, 0
	for _, p := range parts {
		form := formOf(p.m, line[p.start])
		start, end := p.start, p.end
		switch form {
		case whole:
			continue
		case text, token, wallTime:
			start, end = start+1, end-1
		}
		node, from = &node.branch(line[from:start], form, p.m).next, end
	}
	last := node.branch(line[from:], whole, members)
	if last.ends != nil {
		return
	}
	s.count++
	last.ends = &shapeConst{frame: Frame{Side: f.Side, Dir: f.Dir, Kind: f.Kind, Phase: f.Phase, Trunc: f.Trunc, Method: bytes.Clone(f.Method)}}
	if m := f.More; m != nil {
		last.ends.more = &More{ResultType: bytes.Clone(m.ResultType), Era: bytes.Clone(m.Era), ToolError: m.ToolError,
			Code: m.Code, HasCode: m.HasCode, Status: m.Status, HasStatus: m.HasStatus}
	}
}

// branch finds or adds a branch. The longest literal stands first, since another may be its beginning: `"id":` before a
// number, and before a string.
func (n *shapeNode) branch(literal []byte, form form, m member) *shapeBranch {
	for _, b := range n.branches {
		if b.literal == string(literal) && b.form == form && b.value == m {
			return b
		}
	}
	b := &shapeBranch{literal: string(literal), form: form, value: m}
	for ; len(literal) >= 8; literal = literal[8:] {
		b.words = append(b.words, load8(literal))
	}
	b.rest, b.restMask, b.restSize = load(literal, 0), lowBytes(len(literal)), len(literal)
	if form == token {
		b.stop = highs
	}
	n.branches = append(n.branches, b)
	slices.SortStableFunc(n.branches, func(a, b *shapeBranch) int { return len(b.literal) - len(a.literal) })
	n.only, n.fork = n.branches[0], nil
	if len(n.branches) > 1 {
		n.fork = forkOf(n.branches)
	}
	return b
}

// forkOf finds where the branches, longest first, differ. Those with the same eight bytes there share a way.
func forkOf(branches []*shapeBranch) *shapeFork {
	f := &shapeFork{at: len(branches[0].literal)}
	for _, b := range branches[1:] {
		f.at = min(f.at, common(branches[0].literal, b.literal))
	}
	for len(branches) > 0 {
		key, mask := keyAt(branches[0].literal, f.at)
		var alike, others []*shapeBranch
		for _, b := range branches {
			if k, m := keyAt(b.literal, f.at); k == key && m == mask {
				alike = append(alike, b)
			} else {
				others = append(others, b)
			}
		}
		way := shapeWay{key: key, mask: mask, branch: alike[0]}
		if mask == lowBytes(8) && len(alike) > 1 {
			way.fork = forkOf(alike)
		}
		f.ways = append(f.ways, way)
		branches = others
	}
	return f
}

// keyAt is the literal's bytes from at on, up to eight, and their mask.
func keyAt(literal string, at int) (key, mask uint64) {
	rest := []byte(literal[at:])
	return load(rest, 0), lowBytes(len(rest))
}

// common is the length of the beginning that a and b share.
func common(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}
