package frame

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes at once, in a 64-bit word: the first byte in its lowest eight bits. A test of all eight leaves its answer in the
// high bit of each byte. Borrows and carries may spoil the answers behind the first hit, so only the first one counts.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	zeros = 0x3030303030303030 // eight digits '0'
)

func load8(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// load is the word at b[i], with zeros for what lies behind the end of b.
func load(b []byte, i int) uint64 {
	if len(b)-i >= 8 {
		return load8(b[i:])
	}
	return loadEnd(b, i)
}

//go:noinline
func loadEnd(b []byte, i int) uint64 {
	var w [8]byte
	if i < len(b) {
		copy(w[:], b[i:])
	}
	return load8(w[:])
}

// lowBytes masks the first n bytes of a word, or all eight.
func lowBytes(n int) uint64 {
	if n >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*n) - 1
}

// firstByte is the index of the first byte that is marked; 8 when none is.
func firstByte(hits uint64) int { return bits.TrailingZeros64(hits) / 8 }

// special marks the first quote, backslash or control character of w.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
}

// equal marks every byte of w that is c, and no other.
func equal(w uint64, c byte) uint64 {
	x := w ^ ones*uint64(c)
	return ^((x&^highs + ^uint64(highs)) | x | ^uint64(highs))
}

// plain counts the bytes of w, from its low end, before the first quote, backslash or control character; 8 when w has none.
func plain(w uint64) int { return firstByte(special(w)) }

// textEnd is the index of the first quote, backslash, control character, or byte with a bit of stop, from b[i] on; len(b) if
// there is none.
func textEnd(b []byte, i int, stop uint64) int {
	for {
		w := load(b, i) // the zeros behind the end are control characters
		if hit := special(w) | w&stop; hit != 0 {
			return i + firstByte(hit)
		}
		i += 8
	}
}

// digitCount counts the digits that a word begins with. x is the word less zeros.
func digitCount(x uint64) int {
	return firstByte((x | (x + ones*0x76)) & highs)
}

// digitValue is the value of the first n digits of a word, n from 1 to 8. x is the word less zeros.
func digitValue(x uint64, n int) int64 {
	x <<= uint(64-8*n) & 63 // digits 0 in front
	x = x*10 + x>>8         // pairs, in every other byte
	const pairs = 0x000000FF000000FF
	return int64((x&pairs*(100+1000000<<32) + x>>16&pairs*(1+10000<<32)) >> 32)
}

// digits reads up to 18 digits at b[i]: their value and the index behind them.
func digits(b []byte, i int) (n int64, end int) {
	x := load(b, i) ^ zeros
	count := digitCount(x)
	if count == 8 {
		return moreDigits(b, i+8, digitValue(x, 8))
	}
	if count == 0 {
		return 0, i
	}
	return digitValue(x, count), i + count
}

// moreDigits reads up to ten digits at b[i] that follow others, whose value is n.
func moreDigits(b []byte, i int, n int64) (int64, int) {
	x := load(b, i) ^ zeros
	count := digitCount(x)
	if count > 0 {
		n = n*powers[count] + digitValue(x, count)
	}
	i += count
	if count == 8 {
		for limit := i + 2; i < limit && i < len(b) && b[i]-'0' <= 9; i++ {
			n = n*10 + int64(b[i]-'0')
		}
	}
	return n, i
}

// digitsEnd is the index behind the digits at b[i].
func digitsEnd(b []byte, i int) int {
	for {
		n := digitCount(load(b, i) ^ zeros)
		if i += n; n < 8 {
			return i
		}
	}
}

var powers = [...]int64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}
