package main

import (
	"strconv"
	"time"
)

// kind is what a line records.
type kind uint8

const (
	request kind = iota
	handlerEnter
	handlerExit
	response
	failure
	cancel
)

// heads are the members that depend on the kind alone, up to the place of the id.
var heads = [...]string{
	request:      `"dir":"c2s","kind":"request","id":`,
	handlerEnter: `"dir":"c2s","kind":"handler_enter","id":`,
	handlerExit:  `"dir":"c2s","kind":"handler_exit","id":`,
	response:     `"dir":"s2c","kind":"response","id":`,
	failure:      `"dir":"s2c","kind":"error","id":`,
	cancel:       `"dir":"c2s","kind":"notification","method":"notifications/cancelled","request_id":`,
}

// Seven calls in ten are tools/call, of ten tools.
var (
	others = [...]string{7: "resources/read", 8: "tools/list", 9: "ping"}
	tools  = [...]string{"search_invoices", "get_customer", "create_ticket", "list_files", "read_file", "query_database", "send_email", "summarize_doc", "fetch_url", "run_report"}
)

// lineWriter formats lines, one at a time into the same buffer.
type lineWriter struct {
	options
	b    []byte
	rows rows
	pay  []byte
}

func newLineWriter(o options) *lineWriter {
	w := &lineWriter{options: o}
	if o.payload > 0 {
		w.rows = newRows()
	}
	return w
}

// format returns the line of an event; it is valid until the next call.
func (w *lineWriter) format(s *side, e event) []byte {
	bytes := w.frame(e)
	b := append(w.b[:0], '{')
	if w.keys == "shuffled" {
		b = w.session(b, e)
		b = strconv.AppendInt(append(b, `,"bytes":`...), bytes, 10)
		b = append(b, `,"host":"edge-7",`...) // a member that no reader knows
		b = w.about(b, e)
		b = append(append(append(b, `,"side":"`...), s.name...), `",`...)
		b = s.stamp(b, e.at)
	} else {
		b = append(s.stamp(b, e.at), `,"side":"`...)
		b = append(append(b, s.name...), `",`...)
		b = w.about(b, e)
		b = strconv.AppendInt(append(b, `,"bytes":`...), bytes, 10)
		b = w.session(append(b, ','), e)
	}
	if len(w.pay) > 0 {
		b = append(append(b, `,"frame":`...), w.pay...)
	}
	w.b = append(b, "}\n"...)
	return w.b
}

func (s *side) stamp(b []byte, at int64) []byte {
	b = append(b, `"ts":"`...)
	b = s.wall.Add(time.Duration(at)).AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, `","mono_ns":`...)
	return strconv.AppendInt(b, at+s.mono, 10)
}

func (w *lineWriter) session(b []byte, e event) []byte {
	b = append(b, `"session":"s`...)
	return append(strconv.AppendInt(b, int64(e.call/callsPerSession), 10), '"')
}

// about is dir, kind, id and, where a request is meant, its method and name.
func (w *lineWriter) about(b []byte, e event) []byte {
	b = w.id(append(b, heads[e.kind]...), e.call)
	if e.kind > handlerExit {
		return b
	}
	method, name := subject(e.call)
	b = append(append(append(b, `,"method":"`...), method...), '"')
	if name != "" {
		b = append(append(append(b, `,"name":"`...), name...), '"')
	}
	return b
}

// id writes the id of a call: unique in its session, numbers from 1 in the order of sending, or 13 opaque characters.
func (w *lineWriter) id(b []byte, call int) []byte {
	n := int64(call%callsPerSession) + 1
	switch {
	case w.ids == "opaque":
		return opaque(b, mix(uint64(call)))
	case call/callsPerSession%10 == 9:
		b = append(b, `"req-`...)
		return append(strconv.AppendInt(b, n, 10), '"')
	}
	return strconv.AppendInt(b, n, 10)
}

func opaque(b []byte, h uint64) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := range 12 {
		if i == 8 {
			b = append(b, '-')
		}
		b = append(b, digits[h>>(4*i)&15])
	}
	return append(b, '"')
}

// mix scatters a call number (the finaliser of splitmix64), so that what is drawn from it looks random and needs no state.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func subject(call int) (method, name string) {
	h := mix(uint64(call)) >> 48
	if m := others[h%10]; m != "" {
		return m, ""
	}
	return "tools/call", tools[h/10%10]
}

// frame prepares the payload of an event, if it has one, and returns the size of the frame.
func (w *lineWriter) frame(e event) int64 {
	w.pay = w.pay[:0]
	if w.payload > 0 && e.kind != handlerEnter && e.kind != handlerExit && e.kind != cancel {
		w.pay = w.message(w.pay, e)
		return int64(len(w.pay)) + 1
	}
	h := mix(uint64(e.call)) >> 40
	if e.kind == response || e.kind == failure {
		return int64(h%24000) + 200
	}
	return int64(h%600) + 100
}
