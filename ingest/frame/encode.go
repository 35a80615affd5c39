package frame

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendNative appends f as one native record (v1): one JSON object in ASCII, members in the order of the format's table,
// absent ones left out, LF at its end. Reading it back gives the same record, with two exceptions that ASCII forces: a byte
// that is no UTF-8 comes back as U+FFFD, in an id as the text `\xNN`, since two ids must stay two.
func AppendNative(b []byte, f *Frame) []byte {
	var e Encoder
	return e.Append(b, f, nil)
}

// Recorded is what a recorder knows of a frame besides what it says. What it measured the readers of frames pass over.
type Recorded struct {
	At    Instant // of frames that have no time
	Seq   int64   // position in the log, of frames that have none; 0: none
	Trunc bool    // Payload is less than the message

	ResultBytes  int64             // size of the canonical JSON of result or error; 0: not measured
	ResultTokens int64             // token estimate over the same; 0: not measured
	Tools        map[string]string // tool name → SHA-256 of its canonical definition, hex
	Payload      []byte            // JSON text, the member `frame`; nil: none
}

// Encoder writes the records of one log. The zero value is ready.
type Encoder struct {
	Side       Side   // of frames that have none
	Clock, PID []byte // of frames that have none
	last       writtenTime
}

// What a frame without rare members has of them, and what a frame that nobody recorded has.
var (
	nothingMore     More
	nothingRecorded Recorded
)

// Append is AppendNative with what a recorder adds; r may be nil.
func (e *Encoder) Append(b []byte, f *Frame, r *Recorded) []byte {
	if r == nil {
		r = &nothingRecorded
	}
	m := f.More
	if m == nil {
		m = &nothingMore
	}
	o := e.begin(b, f, m, r)
	o = o.token(mID, f.ID)
	o = o.text(mMethod, f.Method)
	o = o.text(mName, f.Name)
	o = o.number(mBytes, f.Bytes, f.Bytes >= 0)
	o = o.number(mRows, f.Rows, f.Rows >= 0)
	o = o.text(mSession, f.Session)
	if m != &nothingMore {
		o = o.label(mConn, m.Conn)
		o = o.label(mExchange, m.Exchange)
	}
	o = o.label(mPID, or(m.PID, e.PID))
	o = o.token(mRequestID, f.RequestID)
	if m != &nothingMore {
		o = o.rare(m)
	}
	o = append(o, phaseWords[f.Phase]...)
	o = o.text(mRaw, m.Raw)
	if r != &nothingRecorded {
		o = o.measured(r)
	}
	o = o.flag(mTrunc, f.Trunc || r.Trunc)
	o = o.number(mDropped, m.Dropped, m.Dropped != 0)
	return append(o, '}', '\n')
}

// begin writes when it was, and what kind of record this is.
func (e *Encoder) begin(b []byte, f *Frame, m *More, r *Recorded) object {
	at := &f.At
	if !at.Known() {
		at = &r.At
	}
	o := object(b).time(at, or(m.Clock, e.Clock), &e.last)
	if m.HasSeq {
		o = o.number(mSeq, m.Seq, true)
	} else {
		o = o.number(mSeq, r.Seq, r.Seq != 0)
	}
	side := f.Side
	if side == NoSide {
		side = e.Side
	}
	return append(o, kindWords[side][f.Dir][f.Kind]...)
}

// or is the first text, or the second where there is none.
func or(t, otherwise []byte) []byte {
	if t == nil {
		return otherwise
	}
	return t
}

// object is a JSON object being written, one member after another. It goes through the methods by value, as it goes through
// append: a pointer to it would cost more than they do.
type object []byte

func (o object) rare(m *More) object {
	o = o.token(mToken, m.Token)
	o = o.number(mCode, m.Code, m.HasCode)
	o = o.flag(mToolError, m.ToolError)
	o = o.text(mResultType, m.ResultType)
	o = o.number(mStatus, m.Status, m.HasStatus)
	o = o.list(mCaps, m.Caps)
	return o.text(mEra, m.Era)
}

func (o object) measured(m *Recorded) object {
	o = o.figure("result_bytes", m.ResultBytes)
	o = o.figure("result_tokens", m.ResultTokens)
	if m.Tools != nil {
		o = append(o, `,"tools":{`...)
		for i, name := range slices.Sorted(maps.Keys(m.Tools)) {
			if i > 0 {
				o = append(o, ',')
			}
			o = append(appendString(o, []byte(name)), ':')
			o = appendString(o, []byte(m.Tools[name]))
		}
		o = append(o, '}')
	}
	if m.Payload != nil {
		o = appendJSON(append(o, `,"frame":`...), m.Payload)
	}
	return o
}

func (o object) figure(name string, n int64) object {
	if n <= 0 {
		return o
	}
	o = append(append(append(o, ',', '"'), name...), '"', ':')
	return strconv.AppendInt(o, n, 10)
}

// appendJSON writes a JSON text in printable ASCII. What is not ASCII stands in strings, where an escape says the same; line
// ends and tabs stand between tokens, where a space does.
func appendJSON(b, t []byte) []byte {
	for len(t) > 0 {
		n := 0
		for n < len(t) && t[n]-0x20 < 0x7F-0x20 {
			n++
		}
		b, t = append(b, t[:n]...), t[n:]
		switch {
		case len(t) == 0:
		case t[0] < 0x20:
			b, t = append(b, ' '), t[1:]
		default:
			r, size := utf8.DecodeRune(t)
			b, t = appendRune(b, r), t[size:]
		}
	}
	return b
}

// key writes what stands in front of a member's value.
func (o object) key(m member) object { return append(o, memberKeys[m]...) }

func (o object) text(m member, t []byte) object {
	if t == nil {
		return o
	}
	return appendString(o.key(m), t)
}

func (o object) number(m member, n int64, there bool) object {
	if !there {
		return o
	}
	return strconv.AppendInt(o.key(m), n, 10)
}

func (o object) flag(m member, set bool) object {
	if !set {
		return o
	}
	return append(o.key(m), "true"...)
}

// token writes an id or a progress token with its JSON type and its exact digits.
func (o object) token(m member, t ID) object {
	if t == nil {
		return o
	}
	o = o.key(m)
	if t.IsString() && (!plainText(t) || bytes.IndexByte(t, '\\') >= 0) {
		return appendString(o, []byte(t.Bare()))
	}
	return append(o, t...)
}

// label writes a name that only has to equal itself. Plain integers are written as such: a pid is usually one.
func (o object) label(m member, t []byte) object {
	if !plainInteger(t) {
		return o.text(m, t)
	}
	return append(o.key(m), t...)
}

func plainInteger(t []byte) bool {
	if len(t) == 0 || len(t) > 18 || (t[0] == '0' && len(t) > 1) {
		return false
	}
	for _, c := range t {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

func (o object) list(m member, list []string) object {
	if list == nil {
		return o
	}
	o = append(o.key(m), '[')
	for i, t := range list {
		if i > 0 {
			o = append(o, ',')
		}
		o = appendString(o, []byte(t))
	}
	return append(o, ']')
}

// appendString writes a JSON string in printable ASCII.
func appendString(b, t []byte) []byte {
	b = append(b, '"')
	for len(t) > 0 {
		if n := asciiEnd(t); n > 0 {
			b, t = append(b, t[:n]...), t[n:]
			continue
		}
		if c := t[0]; c-0x20 < 0x7F-0x20 {
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
			t = t[1:]
			continue
		}
		r, n := utf8.DecodeRune(t)
		b, t = appendRune(b, r), t[n:]
	}
	return append(b, '"')
}

// asciiEnd counts the bytes that t begins with and that stand for themselves in a JSON string of ASCII.
func asciiEnd(t []byte) int {
	const beyond = ones * 0x80
	i := 0
	for ; len(t)-i >= 8; i += 8 {
		w := load8(t[i:])
		if hit := special(w) | equal(w, 0x7F) | w&beyond; hit != 0 {
			return i + firstByte(hit)
		}
	}
	for ; i < len(t); i++ {
		if c := t[i]; c-0x20 >= 0x7F-0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

func appendRune(b []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		b = appendUnit(b, high)
		r = low
	}
	return appendUnit(b, r)
}

func appendUnit(b []byte, u rune) []byte {
	return append(b, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}

// briefKinds are the short words for the four kinds of message; other kinds keep their own.
var briefKinds = [...]string{Request: "req", Response: "res", Error: "err", Notification: "ntf"}

// AppendBrief appends f as one line for the eye: `[side ]dir kind id method [requestId=N] [code=N]`. A string id stands bare;
// `-` is what the record does not have (an error's code stands in its method's place), `?` an id that was cut off. A record
// that is no frame is told in its dialect's own words where it has some. Spaces within a field are escaped, so that no text can
// pose as another field.
func AppendBrief(b []byte, f *Frame, side bool) []byte {
	if side && f.Side != NoSide {
		b = append(b, f.Side.String()...)
		b = append(b, ' ')
	}
	if f.More != nil && f.More.Word != "" {
		b = appendEscaped(b, f.More.Word)
		return append(b, '\n')
	}
	if f.Dir != NoDir {
		b = append(b, f.Dir.String()...)
		b = append(b, ' ')
	}
	if !f.Kind.Message() {
		b = append(b, f.Kind.String()...)
	} else {
		b = append(b, briefKinds[f.Kind]...)
	}
	if f.Kind.Message() || f.Kind.Handler() || f.Kind == GaveUp {
		b = appendBriefID(append(b, ' '), f)
		if coded := f.More != nil && f.More.HasCode; f.Method != nil || !coded {
			b = appendField(append(b, ' '), string(f.Method), "-")
		}
	}
	if f.RequestID != nil {
		b = appendField(append(b, " requestId="...), f.RequestID.Bare(), `""`)
	}
	if f.More != nil && f.More.HasCode {
		b = strconv.AppendInt(append(b, " code="...), f.More.Code, 10)
	}
	return append(b, '\n')
}

func appendBriefID(b []byte, f *Frame) []byte {
	switch {
	case f.ID != nil:
		return appendField(b, f.ID.Bare(), `""`)
	case f.Trunc && f.Kind != Notification:
		return append(b, '?')
	}
	return append(b, '-')
}

func appendField(b []byte, t, empty string) []byte {
	if t == "" {
		return append(b, empty...)
	}
	begin := len(b)
	b = appendEscaped(b, t)
	if bytes.IndexByte(b[begin:], ' ') < 0 {
		return b
	}
	return append(b[:begin], bytes.ReplaceAll(b[begin:], []byte(" "), []byte(`\x20`))...)
}
