package frame

// Version is the version of the native format that this package reads and writes.
const Version = 1

// Reason says why a line is no record. The words are the ones that reports print.
type Reason string

// The reasons for which the native decoder refuses a line.
const (
	NotJSON       Reason = "not JSON"
	NotObject     Reason = "not an object"
	Nesting       Reason = "nesting"
	DuplicateKey  Reason = "duplicate key"
	BadSideOrDir  Reason = "side/dir"
	BadKind       Reason = "kind"
	BadID         Reason = "id type"
	NullID        Reason = "null id on a request"
	NoID          Reason = "no id"
	BadVersion    Reason = "format version"
	NotMessage    Reason = "not a JSON-RPC message" // of DecodeMessage
	NoReason      Reason = ""
	jsonNullToken        = "null"
)

// member numbers the members that the decoder knows, for the duplicate check and the warnings.
type member uint8

const (
	mV member = iota
	mTS
	mMono
	mClock
	mSeq
	mSide
	mDir
	mKind
	mID
	mMethod
	mName
	mBytes
	mRows
	mSession
	mConn
	mExchange
	mPID
	mRequestID
	mToken
	mCode
	mToolError
	mResultType
	mStatus
	mCaps
	mEra
	mPhase
	mRaw
	mTrunc
	mDropped
	members
)

var memberNames = [members]string{"v", "ts", "mono_ns", "clock", "seq", "side", "dir", "kind", "id", "method", "name", "bytes", "rows", "session", "conn",
	"exchange", "pid", "request_id", "token", "code", "tool_error", "result_type", "status", "caps", "era", "phase", "raw", "trunc", "dropped"}

func memberOf(key []byte) member {
	for m, n := range memberNames {
		if n == string(key) {
			return member(m)
		}
	}
	return members
}

// Warnings counts optional members that were there and unusable, by name. The record is kept, the member unknown: a dropped
// response would turn "delivered" into "not read".
type Warnings [members]uint32

// Add adds other's counts.
func (w *Warnings) Add(other *Warnings) {
	for i, n := range other {
		w[i] += n
	}
}

// Each calls f for each member with a count, in a fixed order.
func (w *Warnings) Each(f func(member string, count uint32)) {
	for i, n := range w {
		if n > 0 {
			f(memberNames[i], n)
		}
	}
}

// Decoder reads native records. The zero value is ready; it counts warnings as it goes.
//
// A log writes its members in the same few orders all along, so the decoder remembers which key followed which (next) and
// tries those spellings first. That is a guess about speed only: a wrong guess costs a comparison.
type Decoder struct {
	Warnings Warnings
	next     [members + 2][2]keyGuess
	shapes   shapes
	parts    []part // of the line being read
	unfit    bool   // the line has members that no shape can hold
}

// keyGuess is a key as it was spelled, quotes and colon included, and its member; unknown keys have the member `members`.
type keyGuess struct {
	spelling string
	member   member
}

// start is the place in next of the first key of a line; members is the place after an unknown key.
const start = members + 1

// Decode reads one line, without its line end, into f. Texts in f point into line. It is total: any input gives a record or
// a reason. f.Line is the caller's.
func (d *Decoder) Decode(line []byte, f *Frame) Reason {
	if n := d.Next(line, f); n > 0 && n == len(line) {
		return NoReason
	}
	return d.decode(line, f)
}

// blank makes f the record of which nothing is known but its line.
func (f *Frame) blank() { *f = Frame{Line: f.Line, Bytes: Unknown, Rows: Unknown} }

func (d *Decoder) decode(line []byte, f *Frame) Reason {
	f.blank()
	d.parts, d.unfit = d.parts[:0], false
	s := scanner{b: line}
	s.space()
	if s.peek() != '{' {
		return notRecord(&s)
	}
	warned := d.Warnings
	reason := d.object(&s, f)
	if reason != NotJSON && reason != Nesting {
		s.space()
		if s.i < len(s.b) {
			reason = NotJSON
		} else if reason == NoReason {
			reason = check(f)
		}
	}
	switch {
	case reason != NoReason:
		d.Warnings = warned // the warnings of a line that is no record are not about a record
	case !d.unfit && warned == d.Warnings && (f.Kind <= Error || f.Kind.Handler() || f.ID == nil && !d.has(mID)):
		d.shapes.learn(line, d.parts, f)
	}
	return reason
}

// notRecord tells a line that is JSON but no object from one that is no JSON.
func notRecord(s *scanner) Reason {
	switch s.skip() {
	case tooDeep:
		return Nesting
	case badJSON:
		return NotJSON
	}
	if s.space(); s.i < len(s.b) {
		return NotJSON
	}
	return NotObject
}

func (d *Decoder) object(s *scanner, f *Frame) Reason {
	s.i++
	s.space()
	if s.peek() == '}' {
		s.i++
		return NoReason
	}
	var seen uint64
	var first Reason // a line that is no JSON is that and nothing else, so other reasons wait for its end
	last := start
	for {
		m, ok := d.key(s, last)
		if !ok {
			return NotJSON
		}
		if s.peek() <= ' ' {
			s.space()
		}
		reason, bad := NoReason, fine
		begin := s.i
		switch {
		case m == members:
			bad = s.skip()
		case seen>>m&1 == 1:
			bad, reason = s.skip(), DuplicateKey
		default:
			seen |= 1 << m
			reason, bad = d.value(s, m, f)
		}
		switch {
		case bad == tooDeep:
			return Nesting
		case bad != fine:
			return NotJSON
		case first == NoReason:
			first = reason
		}
		d.part(m, begin, s)
		last = m
		if s.peek() <= ' ' {
			s.space()
		}
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return first
		default:
			return NotJSON
		}
	}
}

// key reads a member's name and its colon; members stands for a name that the format does not know.
func (d *Decoder) key(s *scanner, last member) (member, bool) {
	guesses := &d.next[last]
	for g := range guesses {
		guess := &guesses[g]
		if n := len(guess.spelling); n > 0 && len(s.b)-s.i >= n && string(s.b[s.i:s.i+n]) == guess.spelling {
			s.i += n
			return guess.member, true
		}
	}
	s.space()
	begin := s.i
	if s.peek() != '"' {
		return 0, false
	}
	name, escaped, ok := s.str()
	if !ok || !s.colon() {
		return 0, false
	}
	if escaped {
		name = unescape(name)
	}
	m := memberOf(name)
	if s.i-begin <= 32 {
		guesses[1] = guesses[0]
		guesses[0] = keyGuess{string(s.b[begin:s.i]), m}
	}
	return m, true
}

// value reads one known member.
func (d *Decoder) value(s *scanner, m member, f *Frame) (Reason, fault) {
	begin := s.i
	switch c := s.peek(); {
	case c == '"':
		body, escaped, ok := s.str()
		if !ok {
			return NoReason, badJSON
		}
		if m == mID || m == mRequestID || m == mToken {
			d.token(m, stringToken(s.b[begin:s.i], body, escaped), f)
			return NoReason, fine
		}
		if escaped {
			body = unescape(body)
		}
		return d.text(m, body, f), fine
	case c == '-' || c-'0' <= 9:
		token, n, ok := s.integer()
		if token == nil {
			return NoReason, badJSON
		}
		return d.number(m, token, n, ok, f), fine
	}
	if bad := s.skip(); bad != fine {
		return NoReason, bad
	}
	return d.other(m, s.b[begin:s.i], f), fine
}

// stringToken is the canonical token of a string: raw spelling unless it holds an escape or a byte that is not ASCII.
func stringToken(raw, body []byte, escaped bool) []byte {
	if !escaped && ascii(body) {
		return raw
	}
	if escaped {
		body = unescape(body)
	}
	return canonicalString(body)
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

func (d *Decoder) token(m member, t []byte, f *Frame) {
	switch m {
	case mID:
		f.ID = t
	case mRequestID:
		f.RequestID = t
	case mToken:
		f.Extra().Token = t
	}
}

func (d *Decoder) text(m member, b []byte, f *Frame) Reason {
	var ok bool
	switch m {
	case mTS:
		if !ParseWall(b, &f.At) {
			d.Warnings[m]++
		}
	case mSide:
		if f.Side, ok = ParseSide(b); !ok {
			return BadSideOrDir
		}
	case mDir:
		if f.Dir, ok = ParseDir(b); !ok {
			return BadSideOrDir
		}
	case mKind:
		if f.Kind, ok = ParseKind(b); !ok {
			return BadKind
		}
	case mMethod:
		f.Method = b
	case mName:
		f.Name = b
	case mSession:
		f.Session = b
	case mPhase:
		if f.Phase, ok = ParsePhase(b); !ok {
			d.Warnings[m]++
		}
	case mConn:
		f.Extra().Conn = b
	case mExchange:
		f.Extra().Exchange = b
	case mPID:
		f.Extra().PID = b
	case mClock:
		f.Extra().Clock = b
	case mResultType:
		f.Extra().ResultType = b
	case mEra:
		f.Extra().Era = b
	case mRaw:
		f.Extra().Raw = b
	default:
		return d.unusable(m)
	}
	return NoReason
}

// unusable notes a member of the wrong type: a reason where the record is nothing without it, else a warning.
func (d *Decoder) unusable(m member) Reason {
	switch m {
	case mSide, mDir:
		return BadSideOrDir
	case mKind:
		return BadKind
	case mID:
		return BadID
	case mV:
		return BadVersion
	}
	d.Warnings[m]++
	return NoReason
}

// other reads a member that is an object, an array, true, false or null.
func (d *Decoder) other(m member, b []byte, f *Frame) Reason {
	switch {
	case m == mID && string(b) == jsonNullToken:
		f.ID = b
	case string(b) == jsonNullToken && m != mSide && m != mDir && m != mKind: // an optional null is an absent member
	case m == mCaps && b[0] == '[':
		f.Extra().Caps = stringList(b)
	case m == mToolError && (b[0] == 't' || b[0] == 'f'):
		f.Extra().ToolError = b[0] == 't'
	case m == mTrunc && (b[0] == 't' || b[0] == 'f'):
		f.Trunc = b[0] == 't'
	default:
		return d.unusable(m)
	}
	return NoReason
}

// stringList collects the strings of a valid JSON array; anything else in it is passed over.
func stringList(b []byte) []string {
	list := []string{}
	s := scanner{b: b, i: 1}
	for {
		switch s.space(); s.peek() {
		case ']', 0:
			return list
		case ',':
			s.i++
		case '"':
			body, escaped, _ := s.str()
			if escaped {
				body = unescape(body)
			}
			list = append(list, string(body))
		default:
			s.skip()
		}
	}
}

// number reads a member that is a number: its token, and its value n when it is an int64 (ok).
func (d *Decoder) number(m member, token []byte, n int64, ok bool, f *Frame) Reason {
	switch m {
	case mID:
		f.ID = token
		return NoReason
	case mRequestID:
		f.RequestID = token
		return NoReason
	case mToken:
		f.Extra().Token = token
		return NoReason
	case mConn: // these three may be written as numbers; only equality matters
		f.Extra().Conn = token
		return NoReason
	case mExchange:
		f.Extra().Exchange = token
		return NoReason
	case mPID:
		f.Extra().PID = token
		return NoReason
	}
	if !ok {
		return d.unusable(m)
	}
	switch m {
	case mBytes, mRows, mDropped:
		if n < 0 {
			return d.unusable(m)
		}
		switch m {
		case mBytes:
			f.Bytes = n
		case mRows:
			f.Rows = n
		default:
			f.Extra().Dropped = n
		}
	case mMono:
		f.At.Mono(n)
	case mCode:
		f.Extra().Code, f.More.HasCode = n, true
	case mStatus:
		f.Extra().Status, f.More.HasStatus = n, true
	case mSeq:
		f.Extra().Seq, f.More.HasSeq = n, true
	case mV:
		if n != Version {
			return BadVersion
		}
	default:
		return d.unusable(m)
	}
	return NoReason
}

// check refuses a record that lacks what its kind needs.
func check(f *Frame) Reason {
	if f.Dir == NoDir && f.Kind != Open && f.Kind != Gap {
		return BadSideOrDir
	}
	switch f.Kind {
	case NoKind:
		return BadKind
	case Request, Response:
		if f.ID.IsNull() {
			return NullID
		}
		if f.ID == nil && !f.Trunc {
			return NoID
		}
	case HandlerEnter, HandlerExit:
		if f.ID.IsNull() {
			f.ID = nil
		}
	case Notification, Invalid, Open, EOF, Gap:
		f.ID = nil
	}
	return NoReason
}
