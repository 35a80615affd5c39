package frame

// lastWall remembers how a log writes its times. Thousands of lines share their second and all share their zone, so only the
// decimals are read anew.
type lastWall struct {
	second     [3]uint64 // the last second that was read, as it was written: bytes 0 to 7, 8 to 15, 11 to 18
	zone, mask uint64    // what stood behind the decimals, and the quote
	zoneLen    int
	at         Instant // what they mean
}

// read reads the time at b[i] up to its quote, whose index it returns; 0 when it is none.
func (l *lastWall) read(b []byte, i int, t *Instant) int {
	const room = 20 + 9 + 8
	if l.mask == 0 || len(b)-i < room { // no second is remembered, or too few bytes are left to look at blindly
		return l.parse(b, i, t)
	}
	p := b[i : i+room]
	if load8(p) != l.second[0] || load8(p[8:]) != l.second[1] || load8(p[11:]) != l.second[2] || p[19] != '.' {
		return l.parse(b, i, t)
	}
	x := load8(p[20:]) ^ zeros
	count := digitCount(x)
	if count == 0 {
		return l.parse(b, i, t)
	}
	n := digitValue(x, count)
	if last := p[28] - '0'; count == 8 && last <= 9 {
		n, count = n*10+int64(last), 9
	}
	if load(p, 20+count)&l.mask != l.zone {
		return l.parse(b, i, t)
	}
	t.sec, t.nsec = l.at.sec, int32(n*powers[9-count])
	t.is |= l.at.is
	return i + 20 + count + l.zoneLen
}

// parse reads any time, and remembers it.
func (l *lastWall) parse(b []byte, i int, t *Instant) int {
	end := textEnd(b, i, 0)
	var at Instant
	if !ParseWall(b[i:end], &at) {
		return 0
	}
	t.sec, t.nsec = at.sec, at.nsec
	t.is |= at.is
	if end-i > 20 && b[i+19] == '.' {
		_, zone := digits(b, i+20)
		if size := end - zone; size < 8 {
			l.second = [3]uint64{load8(b[i:]), load8(b[i+8:]), load8(b[i+11:])}
			l.mask = lowBytes(size + 1)
			l.zone = load(b, zone) & l.mask
			l.at = at
			l.zoneLen = size
		}
	}
	return end
}
