package frame

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendNative appends f as one native record (v1): one JSON object in ASCII, members in the order of the format's table,
// absent ones left out, LF at its end. Reading it back gives the same record, with two exceptions that ASCII forces: a byte
// that is no UTF-8 comes back as U+FFFD, in an id as the text `\xNN`, since two ids must stay two.
func AppendNative(b []byte, f *Frame) []byte { return AppendRecorded(b, f, nil) }

// Measured is what a recorder may add to a record, and what the readers of frames pass over.
type Measured struct {
	ResultBytes  int64             // size of the canonical JSON of result or error; 0: not measured
	ResultTokens int64             // token estimate over the same; 0: not measured
	Tools        map[string]string // tool name → SHA-256 of its canonical definition, hex
	Payload      []byte            // JSON text, the member `frame`; nil: none
}

// AppendRecorded is AppendNative with what a recorder adds; m may be nil.
func AppendRecorded(b []byte, f *Frame, add *Measured) []byte {
	var none More
	m := f.More
	if m == nil {
		m = &none
	}
	o := object{append(b, `{"v":1`...)}
	o.time(&f.At)
	o.text(mClock, m.Clock)
	o.number(mSeq, m.Seq, m.HasSeq)
	o.word(mSide, f.Side.String())
	o.word(mDir, f.Dir.String())
	o.word(mKind, f.Kind.String())
	o.token(mID, f.ID)
	o.text(mMethod, f.Method)
	o.text(mName, f.Name)
	o.number(mBytes, f.Bytes, f.Bytes >= 0)
	o.number(mRows, f.Rows, f.Rows >= 0)
	o.text(mSession, f.Session)
	o.label(mConn, m.Conn)
	o.label(mExchange, m.Exchange)
	o.label(mPID, m.PID)
	o.token(mRequestID, f.RequestID)
	o.token(mToken, m.Token)
	o.rare(m)
	o.word(mPhase, f.Phase.String())
	o.text(mRaw, m.Raw)
	o.measured(add)
	o.flag(mTrunc, f.Trunc)
	o.number(mDropped, m.Dropped, m.Dropped != 0)
	return append(o.b, '}', '\n')
}

// object is a JSON object being written, one member after another.
type object struct{ b []byte }

func (o *object) rare(m *More) {
	o.number(mCode, m.Code, m.HasCode)
	o.flag(mToolError, m.ToolError)
	o.text(mResultType, m.ResultType)
	o.number(mStatus, m.Status, m.HasStatus)
	o.list(mCaps, m.Caps)
	o.text(mEra, m.Era)
}

func (o *object) measured(m *Measured) {
	if m == nil {
		return
	}
	o.figure("result_bytes", m.ResultBytes)
	o.figure("result_tokens", m.ResultTokens)
	if m.Tools != nil {
		o.b = append(o.b, `,"tools":{`...)
		for i, name := range slices.Sorted(maps.Keys(m.Tools)) {
			if i > 0 {
				o.b = append(o.b, ',')
			}
			o.b = append(appendString(o.b, []byte(name)), ':')
			o.b = appendString(o.b, []byte(m.Tools[name]))
		}
		o.b = append(o.b, '}')
	}
	if m.Payload != nil {
		o.b = appendJSON(append(o.b, `,"frame":`...), m.Payload)
	}
}

func (o *object) figure(name string, n int64) {
	if n > 0 {
		o.b = append(append(append(o.b, ',', '"'), name...), '"', ':')
		o.b = strconv.AppendInt(o.b, n, 10)
	}
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

func (o *object) key(m member) {
	o.b = append(o.b, ',', '"')
	o.b = append(o.b, memberNames[m]...)
	o.b = append(o.b, '"', ':')
}

// word writes one of the format's own words.
func (o *object) word(m member, w string) {
	if w != "" {
		o.key(m)
		o.b = append(o.b, '"')
		o.b = append(o.b, w...)
		o.b = append(o.b, '"')
	}
}

func (o *object) text(m member, t []byte) {
	if t != nil {
		o.key(m)
		o.b = appendString(o.b, t)
	}
}

func (o *object) number(m member, n int64, there bool) {
	if there {
		o.key(m)
		o.b = strconv.AppendInt(o.b, n, 10)
	}
}

func (o *object) flag(m member, set bool) {
	if set {
		o.key(m)
		o.b = append(o.b, "true"...)
	}
}

// token writes an id or a progress token with its JSON type and its exact digits.
func (o *object) token(m member, t ID) {
	if t == nil {
		return
	}
	o.key(m)
	if t.IsString() && (!plainText(t) || bytes.IndexByte(t, '\\') >= 0) {
		o.b = appendString(o.b, []byte(t.Bare()))
		return
	}
	o.b = append(o.b, t...)
}

// label writes a name that only has to equal itself. Plain integers are written as such: a pid is usually one.
func (o *object) label(m member, t []byte) {
	if !plainInteger(t) {
		o.text(m, t)
		return
	}
	o.key(m)
	o.b = append(o.b, t...)
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

func (o *object) list(m member, list []string) {
	if list == nil {
		return
	}
	o.key(m)
	o.b = append(o.b, '[')
	for i, t := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, []byte(t))
	}
	o.b = append(o.b, ']')
}

const (
	firstSecond = -62135596800 // of year 1
	lastSecond  = 253402300799 // of year 9999
	widestZone  = 23*3600 + 59*60
)

func (o *object) time(t *Instant) {
	if t.HasWall() {
		o.key(mTS)
		o.b = append(o.b, '"')
		o.b = appendWall(o.b, t)
		o.b = append(o.b, '"')
	}
	o.number(mMono, t.MonoNS(), t.HasMono())
}

// appendWall writes the wall reading in UTC, or without a zone if it came so. A reading at the ends of the calendar may
// belong to year 0 or 10000 in UTC, which RFC 3339 cannot say; then the zone is moved.
func appendWall(b []byte, t *Instant) []byte {
	at, zone := t.Time(), "Z"
	switch {
	case t.Zoneless():
		zone = ""
	case t.sec < firstSecond:
		at, zone = at.Add(widestZone*time.Second), "+23:59"
	case t.sec > lastSecond:
		at, zone = at.Add(-widestZone*time.Second), "-23:59"
	}
	b = at.AppendFormat(b, time.RFC3339) // the one layout, with RFC3339Nano, that is fast; it ends with Z
	b[len(b)-1] = '.'
	return append(appendDecimals(b, t.nsec), zone...)
}

// appendDecimals writes as many decimals of a second as a reading needs, from three on.
func appendDecimals(b []byte, nsec int32) []byte {
	n, digits := int(nsec), 9
	for digits > 3 && n%10 == 0 {
		n /= 10
		digits--
	}
	for range digits {
		b = append(b, '0')
	}
	for i := len(b) - 1; n > 0; i-- {
		b[i] += byte(n % 10)
		n /= 10
	}
	return b
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
	for i, c := range t {
		if c-0x20 >= 0x7F-0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return len(t)
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
