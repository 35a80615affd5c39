package frame

import (
	"math"
	"math/bits"
)

// Passing over a value is most of the work on a log that keeps payloads. These functions know what is right and nothing of
// what is wrong: 0 sends the value to the scanner, which tells where and why it stops.

// passedLevels is how deep passOver follows a value: one bit a level.
const passedLevels = 64

// passOver is the index behind the JSON value at b[i]; 0 when there is none, or it nests deeper than passedLevels, or goes on in
// another line.
func passOver(b []byte, i int) int {
	objects, depth := uint64(0), 0 // the innermost level is the lowest bit; set: an object
	near := window{from: math.MinInt}
	for {
		if i = pastSpace(b, i); i >= len(b) {
			return 0
		}
		switch c := b[i]; c {
		case '"':
			i = near.stringEnd(b, i+1)
		case '{', '[':
			if depth++; depth > passedLevels {
				return 0
			}
			objects = objects<<1 | uint64(c>>5&1)
			i = pastSpace(b, i+1)
			if i < len(b) && b[i] == c+2 {
				break // it is empty, and closed below
			}
			if objects&1 == 1 {
				if i = near.keyEnd(b, i); i == 0 {
					return 0
				}
			}
			continue
		default:
			i = scalarEnd(b, i)
		}
		if i == 0 {
			return 0
		}
		for { // behind a value: close levels until there is a comma
			if depth == 0 {
				return i
			}
			if i = pastSpace(b, i); i >= len(b) {
				return 0
			}
			c := b[i]
			i++
			if c == ',' {
				break
			}
			if c != ']'+byte(objects&1)<<5 {
				return 0
			}
			objects >>= 1
			depth--
		}
		if objects&1 == 1 {
			if i = near.keyEnd(b, i); i == 0 {
				return 0
			}
		}
	}
}

// pastSpace passes over white space within a line.
func pastSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// window is where quotes stand in 64 bytes, and what else matters to a string. Most values are small, and a window has several.
type window struct {
	from         int
	quote, other uint64 // a bit a byte; other: backslashes and control characters
}

// stringEnd is the function stringEnd.
func (w *window) stringEnd(b []byte, i int) int {
	at := uint(i - w.from)
	if at >= 64 || w.quote>>at == 0 {
		if !blocks || len(b)-i < 64 {
			return stringEnd(b, i)
		}
		w.look(b, i)
		at = 0
	}
	quote := w.quote >> at
	if before := (quote - 1) &^ quote; quote == 0 || w.other>>at&before != 0 {
		return blocksEnd(b, i)
	}
	return i + bits.TrailingZeros64(quote) + 1
}

// look moves the window to b[i].
func (w *window) look(b []byte, i int) {
	quote, slash, control := blockMasks((*[64]byte)(b[i:]))
	w.from, w.quote, w.other = i, quote, slash|control
}

// keyEnd is the index behind the name and the colon at b[i]; 0 when there are none.
func (w *window) keyEnd(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		if i = pastSpace(b, i); i >= len(b) || b[i] != '"' {
			return 0
		}
	}
	if i = w.stringEnd(b, i+1); i == 0 {
		return 0
	}
	if i >= len(b) || b[i] != ':' {
		if i = pastSpace(b, i); i >= len(b) || b[i] != ':' {
			return 0
		}
	}
	return i + 1
}

// shortEscape tells the bytes that make an escape of two with a backslash.
var shortEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// stringEnd is the index behind the quote that ends the string whose text begins at b[i]; 0 when there is none.
func stringEnd(b []byte, i int) int {
	for words := 1; ; words++ {
		hit := special(load(b, i)) // zeros behind the end of b are control characters
		if hit == 0 {
			if i += 8; words == 2 && blocks { // it is no short one
				return blocksEnd(b, i)
			}
			continue
		}
		if i += firstByte(hit); i >= len(b) {
			return 0
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if blocks {
				return blocksEnd(b, i)
			}
			return escapedEnd(b, i)
		default:
			return 0
		}
	}
}

// blocksEnd is stringEnd for a long string, or one with escapes, 64 bytes at a time.
func blocksEnd(b []byte, i int) int {
	carry := uint64(0) // 1 when a backslash escapes the block's first byte
	for ; len(b)-i >= 64; i += 64 {
		quote, slash, control := blockMasks((*[64]byte)(b[i:]))
		if quote|slash|control|carry == 0 { // where one block is plain, many are
			if left := len(b) - i; left >= 128 {
				i += 64 * plainBlocks((*[64]byte)(b[i+64:]), left/64-1)
			}
			continue
		}
		escaped := carry
		if carry = 0; slash|escaped != 0 {
			escaped, carry = escapes(slash, escaped)
		}
		end := quote &^ escaped
		before := (end - 1) &^ end // the bytes before the first end, or all
		if control&before != 0 {
			return 0
		}
		for odd := escaped &^ quote & before; odd != 0; odd &= odd - 1 {
			if at := i + bits.TrailingZeros64(odd); !shortEscape[b[at]] && escapeLen(b[at-1:]) == 0 {
				return 0
			}
		}
		if end != 0 {
			return i + bits.TrailingZeros64(end) + 1
		}
	}
	return escapedEnd(b, i-int(carry))
}

// escapes marks the bytes that the backslashes of a block escape, and tells whether one escapes the next block's first. carry
// says so of the block's own first byte. Of a run of backslashes every other escapes: adding one to where a run begins carries
// through it, and tells by where it comes out whether the run is odd.
func escapes(slash, carry uint64) (escaped, next uint64) {
	const even = 0x5555555555555555
	slash &^= carry
	after := slash<<1 | carry
	starts := slash &^ even &^ after
	sum, next := bits.Add64(starts, slash, 0)
	return (even ^ sum<<1) & after, next
}

// escapedEnd is stringEnd from the first backslash on. Where there is one there are many: JSON within a string has one at each
// of its quotes. So a word is looked at as a whole, and the next one without waiting for what was found in this.
func escapedEnd(b []byte, i int) int {
	carry := uint64(0) // marks the first byte of the word when a backslash stands before it
	for {
		w := load(b, i)
		quote, slash := equal(w, '"'), equal(w, '\\')
		escaped := slash<<8 | carry
		end := quote &^ escaped
		before := (end - 1) &^ end // the bytes before the first end, or all
		strange := (slash&escaped | equal(w&(ones*0xE0), 0)) & before
		if odd := escaped &^ quote & before; strange != 0 || odd != 0 && !shortEscapes(w, odd) {
			if carry != 0 {
				i-- // the escape began there
			}
			var ended bool
			if i, ended = escapesEnd(b, i); ended {
				return i
			}
			carry = 0
			continue
		}
		if end != 0 {
			return i + firstByte(end) + 1
		}
		carry = slash >> 63 << 7
		i += 8
	}
}

// shortEscapes reports whether the marked bytes of w are each the second of an escape of two.
func shortEscapes(w, marks uint64) bool {
	for ; marks != 0; marks &= marks - 1 {
		if !shortEscape[byte(w>>(8*firstByte(marks)))] {
			return false
		}
	}
	return true
}

// escapesEnd takes a word's length of a string one byte or escape at a time, and tells whether it ended, then as stringEnd does.
func escapesEnd(b []byte, i int) (end int, ended bool) {
	for stop := i + 8; i < stop; {
		switch {
		case i >= len(b) || b[i] < 0x20:
			return 0, true
		case b[i] == '"':
			return i + 1, true
		case b[i] == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return 0, true
			}
			i += n
		default:
			i++
		}
	}
	return i, false
}

// scalarEnd is the index behind the number or the word at b[i]; 0 when there is none.
func scalarEnd(b []byte, i int) int {
	if c := b[i]; c == '-' || c-'0' <= 9 {
		return numberEnd(b, i)
	}
	const five = 1<<40 - 1
	switch w := load(b, i); {
	case w&five == 'f'|'a'<<8|'l'<<16|'s'<<24|'e'<<32:
		return i + 5
	case uint32(w) == 't'|'r'<<8|'u'<<16|'e'<<24, uint32(w) == 'n'|'u'<<8|'l'<<16|'l'<<24:
		return i + 4
	}
	return 0
}

// numberEnd is the index behind the number at b[i]; 0 when there is none.
func numberEnd(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	start := i
	if i = digitsEnd(b, i); i == start || b[start] == '0' && i > start+1 {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		if start, i = i+1, digitsEnd(b, i+1); i == start {
			return 0
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if start, i = i, digitsEnd(b, i); i == start {
			return 0
		}
	}
	return i
}
