package frame

import (
	"math"
	"time"
)

// Instant is one reading of the clocks of one writer: a wall clock, a monotonic clock, either or none. Readings of two
// writers have nothing in common, so Sub refuses them; that refusal is the point of the type.
//
// It has four members and 32 bytes, which is what Go keeps in registers. One more, and each reading goes through memory, where
// a copy in wide words has to wait for the narrow ones that were written just before.
type Instant struct {
	sec  int64 // wall: seconds since 1970, years 1 to 9999
	mono int64 // ns
	nsec int32 // wall: ns within the second
	is   instantTag
}

// instantTag says what an Instant has, and whose readings they are: flags; from logShift on which log; from clockShift on which
// writer's monotonic clock. See OnClock.
type instantTag uint64

const (
	hasWall instantTag = 1 << iota
	hasMono
	zoneless

	flags      = 1<<logShift - 1
	logShift   = 16
	clockShift = 32
)

func (is instantTag) log() uint16   { return uint16(is >> logShift) }
func (is instantTag) clock() uint32 { return uint32(is >> clockShift) }

func (is instantTag) on(log uint16, clock uint32) instantTag {
	return is&flags | instantTag(log)<<logShift | instantTag(clock)<<clockShift
}

// Wall sets the wall reading: seconds since 1970 and nanoseconds within the second.
func (t *Instant) Wall(sec int64, nsec int32, zone bool) {
	t.sec, t.nsec = sec, nsec
	t.is |= hasWall
	if !zone {
		t.is |= zoneless
	}
}

// Mono sets the monotonic reading, in ns.
func (t *Instant) Mono(ns int64) { t.mono, t.is = ns, t.is|hasMono }

// OnClock says whose readings these are: which log, and which monotonic clock within it.
func (t Instant) OnClock(log uint16, clock uint32) Instant {
	t.is = t.is.on(log, clock)
	return t
}

// HasWall reports whether there is a wall reading.
func (t Instant) HasWall() bool { return t.is&hasWall != 0 }

// HasMono reports whether there is a monotonic reading.
func (t Instant) HasMono() bool { return t.is&hasMono != 0 }

// Zoneless reports whether the wall reading came without a zone: good within its own log only.
func (t Instant) Zoneless() bool { return t.is&zoneless != 0 }

// Back is the reading d earlier, on the same clocks.
func (t Instant) Back(d time.Duration) Instant {
	if t.HasMono() {
		t.mono -= int64(d)
	}
	if t.HasWall() {
		at := time.Unix(t.sec, int64(t.nsec)).Add(-d)
		t.sec, t.nsec = at.Unix(), int32(at.Nanosecond())
	}
	return t
}

// Known reports whether there is any reading.
func (t Instant) Known() bool { return t.is&(hasWall|hasMono) != 0 }

// MonoNS is the monotonic reading, in ns; meaningful only with HasMono.
func (t Instant) MonoNS() int64 { return t.mono }

// WallNS is the wall reading in ns since 1970, and whether it has one that ns can count (years 1678 to 2261).
func (t Instant) WallNS() (int64, bool) {
	_, _, wall, ok := t.Readings()
	return wall, ok
}

// Readings is what MonoNS, HasMono and WallNS say, at once.
func (t Instant) Readings() (mono int64, isMono bool, wall int64, isWall bool) {
	const limit = math.MaxInt64/1_000_000_000 - 1
	if t.is&hasWall != 0 && t.sec <= limit && t.sec >= -limit {
		wall, isWall = t.sec*1_000_000_000+int64(t.nsec), true
	}
	return t.mono, t.is&hasMono != 0, wall, isWall
}

// Time is the wall reading; the zero time without one.
func (t Instant) Time() time.Time {
	if !t.HasWall() {
		return time.Time{}
	}
	return time.Unix(t.sec, int64(t.nsec)).UTC()
}

// Sub is t-u on one clock: the monotonic one when both readings have it, else the wall clock of the same log. ok is false
// across logs, when a reading is missing, and when nanoseconds cannot count the distance. A negative result means that the
// clock stepped (or two writers raced); it is no duration.
func (t Instant) Sub(u Instant) (d time.Duration, ok bool) {
	if t.is.log() != u.is.log() {
		return 0, false
	}
	if t.HasMono() && u.HasMono() && t.is.clock() == u.is.clock() {
		return subNS(t.mono, u.mono)
	}
	a, okA := t.WallNS()
	b, okB := u.WallNS()
	if !okA || !okB {
		return 0, false
	}
	return subNS(a, b)
}

func subNS(a, b int64) (time.Duration, bool) {
	d := a - b
	if (b > 0 && d > a) || (b < 0 && d < a) { // overflow
		return 0, false
	}
	return time.Duration(d), true
}

// ParseWall reads a wall time as logs write it: RFC 3339 with up to nine decimals, a comma or a point, a T or a space, any
// case, with or without a zone. Anything else, and a date that no calendar has, is no time.
func ParseWall(b []byte, t *Instant) bool {
	if len(b) < 19 || b[4] != '-' || b[7] != '-' || (b[10]|0x20 != 't' && b[10] != ' ') || b[13] != ':' || b[16] != ':' {
		return false
	}
	year, ok1 := digits4(b[0:4])
	month, ok2 := digits2(b[5:7])
	day, ok3 := digits2(b[8:10])
	hour, ok4 := digits2(b[11:13])
	minute, ok5 := digits2(b[14:16])
	second, ok6 := digits2(b[17:19])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) || hour > 23 || minute > 59 || second > 59 || !validDate(year, month, day) {
		return false
	}
	nsec, rest, ok := fraction(b[19:])
	if !ok {
		return false
	}
	offset, zone, ok := zoneOffset(rest)
	if !ok {
		return false
	}
	t.Wall(days(year, month, day)*86400+int64(hour*3600+minute*60+second)-int64(offset), nsec, zone)
	return true
}

func digits2(b []byte) (int, bool) {
	x, y := b[0]-'0', b[1]-'0'
	return int(x)*10 + int(y), x <= 9 && y <= 9
}

func digits4(b []byte) (int, bool) {
	x, ok1 := digits2(b)
	y, ok2 := digits2(b[2:])
	return x*100 + y, ok1 && ok2
}

func fraction(b []byte) (nsec int32, rest []byte, ok bool) {
	if len(b) == 0 || (b[0] != '.' && b[0] != ',') {
		return 0, b, true
	}
	i, scale := 1, int32(100_000_000)
	for i < len(b) && b[i]-'0' <= 9 {
		nsec += int32(b[i]-'0') * scale
		scale /= 10
		i++
	}
	return nsec, b[i:], i > 1 && i <= 10
}

func zoneOffset(b []byte) (seconds int, zone, ok bool) {
	if len(b) == 0 {
		return 0, false, true
	}
	if len(b) == 1 && b[0]|0x20 == 'z' {
		return 0, true, true
	}
	if len(b) == 5 && (b[0] == '+' || b[0] == '-') { // +hhmm
		b = []byte{b[0], b[1], b[2], ':', b[3], b[4]}
	}
	if len(b) != 6 || (b[0] != '+' && b[0] != '-') || b[3] != ':' {
		return 0, false, false
	}
	h, ok1 := digits2(b[1:3])
	m, ok2 := digits2(b[4:6])
	if !ok1 || !ok2 || h > 23 || m > 59 {
		return 0, false, false
	}
	seconds = h*3600 + m*60
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, true, true
}

var monthDays = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func validDate(year, month, day int) bool {
	if year < 1 || month < 1 || month > 12 || day < 1 {
		return false
	}
	last := monthDays[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		last = 29
	}
	return day <= last
}

// days counts the days from 1970-01-01 in the proleptic Gregorian calendar, in a year that starts in March so that the leap
// day comes last.
func days(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := int64(year / 400)
	y := int64(year % 400)
	dayOfYear := int64((153*(month-3)+2)/5 + day - 1)
	return era*146097 + y*365 + y/4 - y/100 + dayOfYear - 719468
}
