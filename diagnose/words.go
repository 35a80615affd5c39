package diagnose

import (
	"fmt"
	"strconv"
	"time"
)

// size writes a number of bytes with its thousands apart.
func size(n int64) string { return Thousands(n) + " B" }

// Thousands writes an integer with commas.
func Thousands(n int64) string {
	if n < 0 {
		return "-" + Thousands(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Wait writes a duration in milliseconds as precisely as its length deserves.
func Wait(d time.Duration) string {
	switch {
	case d >= time.Second || d <= -time.Second:
		d = d.Round(time.Millisecond)
	case d >= 10*time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	}
	return MS(d)
}

// MS writes a duration in milliseconds with the decimals that it has, three at most, so that stages add up on paper.
func MS(d time.Duration) string {
	us := d.Round(time.Microsecond).Microseconds()
	whole, rest := us/1000, us%1000
	if rest == 0 {
		return Thousands(whole) + " ms"
	}
	if rest < 0 {
		rest = -rest
	}
	frac := fmt.Sprintf("%03d", rest)
	for frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	return Thousands(whole) + "." + frac + " ms"
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(int64(n)) + " " + noun + "s"
}

// sizeIfKnown is a size and a comma, or nothing.
func sizeIfKnown(n int64) string {
	if n < 0 {
		return ""
	}
	return size(n) + ", "
}
