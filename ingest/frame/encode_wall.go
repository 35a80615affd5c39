package frame

import "time"

const (
	firstSecond = -62135596800 // of year 1
	lastSecond  = 253402300799 // of year 9999
	widestZone  = 23*3600 + 59*60
)

// writtenSecond remembers how a second is written in UTC, up to its decimals.
type writtenSecond struct {
	known  bool
	second int64
	text   [len("2006-01-02T15:04:05.")]byte
}

func (o object) time(t *Instant, wall *writtenSecond) object {
	if t.HasWall() {
		o = append(o.key(mTS), '"')
		o = append(wall.append(o, t), '"')
	}
	return o.number(mMono, t.mono, t.has&hasMono != 0)
}

// append writes the wall reading in UTC, or without a zone if it came so. A reading at the ends of the calendar may belong to
// year 0 or 10000 in UTC, which RFC 3339 cannot say; then the zone is moved.
func (w *writtenSecond) append(b []byte, t *Instant) []byte {
	sec, zone := t.sec, "Z"
	switch {
	case t.Zoneless():
		zone = ""
	case sec < firstSecond:
		sec, zone = sec+widestZone, "+23:59"
	case sec > lastSecond:
		sec, zone = sec-widestZone, "-23:59"
	}
	if w.known && w.second == sec {
		b = append(b, w.text[:]...)
	} else {
		b = time.Unix(sec, 0).UTC().AppendFormat(b, time.RFC3339) // the one layout, with RFC3339Nano, that is fast; it ends with Z
		b[len(b)-1] = '.'
		w.known, w.second = true, sec
		copy(w.text[:], b[len(b)-len(w.text):])
	}
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
