package frame

import (
	"bytes"
	"time"
)

const (
	firstSecond = -62135596800 // of year 1
	lastSecond  = 253402300799 // of year 9999
	widestZone  = 23*3600 + 59*60
)

// writtenTime remembers how the beginning of a record, which is a time, is written: what came in one chunk has one time.
type writtenTime struct {
	at    Instant
	clock []byte
	text  object
}

func (o object) time(t *Instant, clock []byte, last *writtenTime) object {
	if last.text == nil || *t != last.at || len(clock) == 0 || !bytes.Equal(clock, last.clock) {
		last.at, last.clock = *t, append(last.clock[:0], clock...)
		last.text = append(last.text[:0], `{"v":1`...).readings(t).text(mClock, clock)
	}
	return append(o, last.text...)
}

func (o object) readings(t *Instant) object {
	if t.HasWall() {
		o = append(o.key(mTS), '"')
		o = append(appendWall(o, t), '"')
	}
	return o.number(mMono, t.mono, t.is&hasMono != 0)
}

// appendWall writes the wall reading in UTC, or without a zone if it came so. A reading at the ends of the calendar may belong to
// year 0 or 10000 in UTC, which RFC 3339 cannot say; then the zone is moved.
func appendWall(b []byte, t *Instant) []byte {
	sec, zone := t.sec, "Z"
	switch {
	case t.Zoneless():
		zone = ""
	case sec < firstSecond:
		sec, zone = sec+widestZone, "+23:59"
	case sec > lastSecond:
		sec, zone = sec-widestZone, "-23:59"
	}
	b = time.Unix(sec, 0).UTC().AppendFormat(b, time.RFC3339) // the one layout, with RFC3339Nano, that is fast; it ends with Z
	b[len(b)-1] = '.'
	return append(appendDecimals(b, t.nsec), zone...)
}

// appendDecimals writes as many decimals of a second as a reading needs, from three on.
func appendDecimals(b []byte, nsec int32) []byte {
	var digits [9]byte
	n := uint32(nsec)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = '0' + byte(n%10)
		n /= 10
	}
	size := len(digits)
	for size > 3 && digits[size-1] == '0' {
		size--
	}
	return append(b, digits[:size]...)
}
