package ingest

import (
	"time"

	"mcpdiag/ingest/frame"
)

// passes reports whether a record is passed over: it is of another server than the one asked for, or the second telling of an
// event.
func (r *reader) passes(f *frame.Frame) bool {
	if r.options.Server != "" && len(f.More.Conn) > 0 && string(f.More.Conn) != r.options.Server {
		return true
	}
	if f.More.Twin == 0 || !r.twins.again(f) {
		return false
	}
	if r.twinCount++; r.twinCount == 1 {
		r.twinLine = f.Line
	}
	return true
}

// placed reports whether times are to be given a day or a zone.
func (o *Options) placed() bool { return o.Zone != nil || !o.Date.IsZero() }

// place gives a time without a zone, or without a date, the user's. It serves to label and to choose: such times are not
// compared with another log's, whatever zone they are given.
func (o *Options) place(f *frame.Frame) {
	if !f.At.HasWall() || !f.At.Zoneless() {
		return
	}
	const day = 24 * time.Hour
	t := f.At.Time()
	if since := t.Sub(time.Unix(0, 0)); !o.Date.IsZero() && since >= 0 && since < 366*day { // a time of day counts from 1970
		t = o.Date.Add(since)
	}
	zone := o.Zone
	if zone == nil {
		f.At.Wall(t.Unix(), int32(t.Nanosecond()), false)
		return
	}
	_, offset := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone).Zone()
	var at frame.Instant // a new one: that it had no zone is not taken back otherwise
	at.Wall(t.Unix()-int64(offset), int32(t.Nanosecond()), true)
	if f.At.HasMono() {
		at.Mono(f.At.MonoNS())
	}
	f.At = at
}
