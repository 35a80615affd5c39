package dialect

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"

	"mcpdiag/ingest/frame"
)

// streams puts the chunks of a byte recorder together again, one stream for each process or connection and direction. A chunk
// is what one read(2) gave: frames are cut anywhere, and several may stand in one. A line is a frame once its LF is there, at
// the time of the chunk that brought it.
type streams struct {
	open map[string]*stream
	http bool // one of them was HTTP, so all are
}

// stream is one direction of one connection.
type stream struct {
	next   int64  // offset of the byte that comes next
	rest   []byte // a line without its end so far
	blind  bool   // bytes are missing: what comes before the next LF is not a whole line
	begun  bool
	http   bool  // the bytes are HTTP, and only its bodies hold messages
	status int64 // of the HTTP answer that is being read
	heads  int64 // HTTP requests, or answers, that began: the nth of a connection are one exchange
}

const (
	maxStreams = 4096
	maxRest    = 256 << 20 // a longer line is no frame
)

// isChunk reports whether the record carries bytes and not a frame.
func isChunk(rec record) bool {
	data := rec["data"]
	return len(rec["b64"]) > 0 && rec["b64"][0] == '"' || len(data) > 0 && data[0] == '"'
}

func bytesOf(rec record) []byte {
	if text := rec.text([]string{"b64"}); text != "" {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil // the size then tells that bytes are missing
		}
		return b
	}
	return []byte(rec.text([]string{"data"}))
}

// of finds the stream of a record. Too many at once are forgotten; what goes on then starts blind, since its offset is not 0.
func (s *streams) of(f *frame.Frame) *stream {
	key := streamKey(f)
	if s.open == nil || len(s.open) >= maxStreams && s.open[key] == nil {
		s.open = map[string]*stream{}
	}
	if s.open[key] == nil {
		s.open[key] = &stream{}
	}
	return s.open[key]
}

func streamKey(f *frame.Frame) string {
	var pid, conn []byte
	if f.More != nil {
		pid, conn = f.More.PID, f.More.Conn
	}
	return string(pid) + "\x00" + string(conn) + "\x00" + f.Dir.String()
}

// chunk reads one chunk. f has its line, time, direction and labels. A recorder of bytes stands between the sides.
func (s *streams) chunk(rec record, f frame.Frame, b *Batch) {
	if f.Side == frame.NoSide {
		f.Side = frame.Proxy
	}
	if f.Dir == frame.NoDir {
		return
	}
	data := bytesOf(rec)
	st := s.of(&f)
	off, told := rec.number([]string{"off", "offset"})
	if !told {
		off = st.next
	}
	data = st.align(off, data, &f, b)
	st.feed(data, &f, b)
	s.http = s.http || st.http
	if size, ok := rec.number(sizeNames); ok && off+size > st.next {
		st.lose(&f, b) // the recorder kept less than it read
		st.next = off + size
	}
}

// align compares a chunk's offset with the one that comes next: bytes that were there already are passed over, and a jump
// means that some are missing.
func (st *stream) align(off int64, data []byte, f *frame.Frame, b *Batch) []byte {
	switch {
	case off > st.next:
		st.lose(f, b)
		st.next = off
	case off < st.next:
		data = data[min(int64(len(data)), st.next-off):]
	}
	st.next += int64(len(data))
	return data
}

// lose notes that bytes are missing here.
func (st *stream) lose(f *frame.Frame, b *Batch) {
	st.rest, st.blind, st.begun = nil, true, true
	gap := *f
	gap.Kind, gap.Dir = frame.Gap, frame.NoDir
	b.Frames = append(b.Frames, gap)
}

func (st *stream) feed(data []byte, f *frame.Frame, b *Batch) {
	if !st.begun && len(data) > 0 {
		st.begun, st.http = true, startsHTTP(data)
	}
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		line := data[:end+1]
		if len(st.rest) > 0 {
			line = append(st.rest, line...)
			st.rest = nil // the line's frames point into it
		}
		data = data[end+1:]
		st.line(line, f, b)
	}
	if st.rest = append(st.rest, data...); len(st.rest) > maxRest {
		st.lose(f, b)
	}
	if st.http {
		st.body(f, b)
	}
}

// line reads one line with its end.
func (st *stream) line(line []byte, f *frame.Frame, b *Batch) {
	if st.blind {
		st.blind = false
		return
	}
	bare := bytes.Trim(line, " \t\r\n")
	switch {
	case len(bare) == 0:
	case st.http:
		st.httpLine(bare, f, b)
	default:
		wireLine(bare, int64(len(line)), f, b)
	}
}

// wireLine makes a line on the wire the frames that it is: one message, or several in a batch or without ends between them;
// else a bad line.
func wireLine(bare []byte, size int64, f *frame.Frame, b *Batch) {
	had := len(b.Frames)
	objects := messages(bare)
	for _, object := range objects {
		g := *f
		more := moreOf(f)
		g.More, g.Bytes = more, int64(len(object))
		if len(objects) == 1 {
			g.Bytes = size
		}
		if frame.DecodeMessage(object, &g) != frame.NoReason {
			objects, b.Frames = nil, b.Frames[:had]
			break
		}
		b.Frames = append(b.Frames, g)
	}
	if objects == nil {
		g := *f
		g.More, g.Kind, g.Bytes = moreOf(f), frame.Invalid, size
		g.Extra().Raw = bare[:min(len(bare), teeRaw)]
		b.Frames = append(b.Frames, g)
	}
}

// moreOf copies the labels, since each frame of a chunk adds its own members to them.
func moreOf(f *frame.Frame) *frame.More {
	if f.More == nil {
		return nil
	}
	m := *f.More
	return &m
}

// messages are the JSON-RPC objects that a line consists of; nil when there is anything else on it but a batch's brackets.
func messages(line []byte) (objects [][]byte) {
	for len(line) > 0 {
		switch line[0] {
		case '[', ']', ',', ' ', '\t', '\r', '\n':
			line = line[1:]
			continue
		}
		end, shape := frame.ScanObject(line)
		if shape != frame.MessageObject {
			return nil
		}
		objects = append(objects, line[:end])
		line = line[end:]
	}
	return objects
}

// batchOf are the messages of a JSON array of messages; nil when the text is anything else.
func batchOf(text []byte) [][]byte {
	if len(text) == 0 || text[0] != '[' {
		return nil
	}
	return messages(text)
}

// flush reads what a stream ends with: a line without its end. f says which one ends. It reports whether the session's
// direction ends with it, as it does unless the stream is a connection of HTTP.
func (s *streams) flush(f frame.Frame, b *Batch) bool {
	st := s.open[streamKey(&f)]
	if st == nil {
		return !s.http
	}
	if f.Side == frame.NoSide {
		f.Side = frame.Proxy
	}
	if bare := bytes.Trim(st.rest, " \t\r\n"); len(bare) > 0 && !st.blind && !st.http {
		wireLine(bare, int64(len(st.rest)), &f, b)
	}
	delete(s.open, streamKey(&f))
	return !st.http
}

func startsHTTP(data []byte) bool {
	for _, word := range [...]string{"POST ", "GET ", "DELETE ", "OPTIONS ", "HTTP/1."} {
		if bytes.HasPrefix(data, []byte(word)) {
			return true
		}
	}
	return false
}

// httpLine takes the messages out of a line of HTTP: a body, or the data of a server-sent event. The rest is no bad line.
func (st *stream) httpLine(bare []byte, f *frame.Frame, b *Batch) {
	if words := bytes.Fields(bare[:min(len(bare), 16)]); bytes.HasPrefix(bare, []byte("HTTP/1.")) && len(words) > 1 {
		if st.status, _ = strconv.ParseInt(string(words[1]), 10, 32); st.status >= 200 {
			st.heads++
		}
		return
	}
	o := newObjects(bare)
	for object := o.next(); object != nil; object = o.next() {
		g := *f
		g.Bytes = int64(len(object))
		st.exchange(&g)
		if frame.DecodeMessage(object, &g) == frame.NoReason {
			b.Frames = append(b.Frames, g)
		}
	}
	if bytes.HasSuffix(bare, []byte(" HTTP/1.1")) {
		st.heads++
	}
}

// exchange labels a message of HTTP. A connection is no session there: the calls of one take whichever is free.
func (st *stream) exchange(f *frame.Frame) {
	f.More = moreOf(f)
	more := f.Extra()
	more.Exchange = append(append([]byte(nil), more.Conn...), '.')
	more.Exchange = strconv.AppendInt(more.Exchange, st.heads, 10)
	more.Conn = nil
	if st.status != 0 {
		more.Status, more.HasStatus = st.status, true
	}
}

// body takes a body that ends with the chunk: bodies have no line end, and the next message's headers follow at once.
func (st *stream) body(f *frame.Frame, b *Batch) {
	bare := bytes.Trim(st.rest, " \t\r")
	if len(bare) == 0 || bare[0] != '{' || bare[len(bare)-1] != '}' || st.blind {
		return
	}
	if end, shape := frame.ScanObject(bare); shape == frame.MessageObject && end == len(bare) {
		st.httpLine(bare, f, b)
		st.rest = nil
	}
}

// ticks reads the times of records, and finds out what a number without a unit counts.
type ticks struct {
	unit  int64 // ns; 0 before it is known
	wall  int64 // of the first record that has both, ns
	count int64 // its number without a unit
	armed bool
}

// The members that hold a time. A wall time is a date, or a number since 1970 whose size tells its unit.
var wallNames = []string{"wall", "ts", "timestamp", "time", "@timestamp", "ts_ms", "startedAt", "startedDateTime", "ms"}

var monoNames = []struct {
	name   string
	unit   int64 // ns; 0 when the name does not tell
	either bool  // the name may also be that of a wall time
}{
	{"mono_ns", 1, false}, {"monotonic_ns", 1, false}, {"mono_us", 1e3, false}, {"mono_ms", 1e6, false}, {"elapsed_ms", 1e6, false},
	{"mono_s", 1e9, false}, {"mono", 0, false}, {"monotonic", 0, false}, {"ms", 1e6, true}, {"ts", 0, true},
}

func (t *ticks) read(rec record, at *frame.Instant) {
	for _, n := range wallNames {
		if v := rec[n]; len(v) > 0 && wallTime(v, at) {
			break
		}
	}
	for _, m := range monoNames {
		v := rec[m.name]
		if len(v) == 0 || v[0]-'0' > 9 || m.either && epochUnit(v) != 0 {
			continue
		}
		unit := m.unit
		if unit == 0 {
			unit = t.guess(v, at)
		}
		if ns, ok := scaled(v, unit); ok {
			at.Mono(ns)
			return
		}
	}
}

func wallTime(v []byte, at *frame.Instant) bool {
	if v[0] == '"' {
		return len(v) > 2 && frame.ParseWall(v[1:len(v)-1], at)
	}
	unit := epochUnit(v)
	ns, ok := scaled(v, unit)
	if unit == 0 || !ok {
		return false
	}
	at.Wall(ns/1_000_000_000, int32(ns%1_000_000_000), true)
	return true
}

// epochUnit is the unit of a number of times since 1970, by its size; 0 when it is too small to be one. A clock that starts
// with its process or its machine stays far below.
func epochUnit(v []byte) int64 {
	whole, _, _ := bytes.Cut(v, []byte{'.'})
	switch n := len(whole); {
	case n >= 19:
		return 1
	case n >= 16:
		return 1e3
	case n >= 13:
		return 1e6
	case n >= 10:
		return 1e9
	}
	return 0
}

// guess finds the unit of a bare number. With decimals it is seconds, as clocks are read in Python. A whole one is compared
// with the wall clock between two records; before that it is not used.
func (t *ticks) guess(v []byte, at *frame.Instant) int64 {
	if bytes.IndexByte(v, '.') >= 0 {
		return 1e9
	}
	wall, hasWall := at.WallNS()
	n, ok := decimal(v)
	if t.unit != 0 || !hasWall || !ok {
		return t.unit
	}
	if !t.armed {
		t.wall, t.count, t.armed = wall, n, true
	}
	const enough = 20_000_000 // ns; less, and rounding decides
	passed, counted := float64(wall-t.wall), float64(n-t.count)
	for _, unit := range [...]int64{1, 1e3, 1e6, 1e9} {
		if ratio := passed / (counted * float64(unit)); passed >= enough && counted > 0 && math.Abs(math.Log10(ratio)) < 1 {
			t.unit = unit
		}
	}
	return t.unit
}

// scaled reads a number with decimals, of the unit given, as ns.
func scaled(v []byte, unit int64) (ns int64, ok bool) {
	if unit == 0 {
		return 0, false
	}
	whole, decimals, _ := bytes.Cut(v, []byte{'.'})
	n, ok := decimalLong(whole)
	if !ok || n > math.MaxInt64/unit-1 {
		return 0, false
	}
	ns = n * unit
	for _, c := range decimals {
		if c-'0' > 9 {
			return 0, false
		}
		unit /= 10
		ns += int64(c-'0') * unit
	}
	return ns, true
}

// decimalLong is decimal for the 19 digits of a time in ns.
func decimalLong(b []byte) (int64, bool) {
	if len(b) == 0 || b[0]-'0' > 9 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}
