package frame

// A log writes the same few shapes of line over and over: the same members in the same order, of which only times, ids,
// sizes and names change. shapes remembers them as a tree: a literal run of bytes, then a value, then the literals that have
// followed it. A line that walks the tree to its end is the line that the decoder would have read, at a fraction of the cost;
// any other goes to the decoder, which is exact, and from which the tree learns. So the tree may refuse any line, but must
// never read one otherwise than the decoder does.
type shapes struct {
	root  shapeNode
	count int
	last  lastWall
	mores []More // the first is for the next line that needs one; it is blank unless a line that was given up has written to it
}

// shapeNode is what may follow a value.
type shapeNode struct {
	only     *shapeBranch // the sole one of branches
	fork     *shapeFork   // tells several apart
	branches []*shapeBranch
}

// shapeFork tells branches apart by eight bytes of their literals, from the first at which they differ.
type shapeFork struct {
	at   int
	ways []shapeWay
}

// shapeWay is a branch, or another fork for those that have these bytes in common.
type shapeWay struct {
	key, mask uint64
	branch    *shapeBranch
	fork      *shapeFork
}

// shapeBranch is a literal and the value after it; with ends, the literal that ends a line.
type shapeBranch struct {
	form     form
	value    member
	words    []uint64 // the literal, eight bytes each
	rest     uint64   // and what is left of it, with its mask
	restMask uint64
	restSize int
	stop     uint64 // bits that no byte of a text may have
	next     shapeNode
	ends     *shapeConst
	literal  string
}

// form is how a value is written, and so how it is read.
type form uint8

const (
	whole    form = iota // part of the literal
	numeral              // an integer of up to 18 digits
	text                 // a string without escapes; its quotes belong to the literals
	token                // such a string that keeps its quotes, and is ASCII
	wallTime             // a string that holds a time
	skipped              // any value, of a member that the format does not know
	unfit                // none that a shape can hold
)

// shapeConst is what a whole shape fixes.
type shapeConst struct {
	frame Frame
	more  *More
}

const (
	maxShapes     = 256 // a log of more is no log of shapes, and is left to the decoder
	maxShapeParts = 32
)

// formOf tells how a member's value, which begins with c, is part of a shape. The members that make out the shape are whole:
// their values are few. So is null, which says that the member is absent, but for the id.
func formOf(m member, c byte) form {
	isText := c == '"'
	switch m {
	case members:
		return skipped
	case mV, mSide, mDir, mKind, mMethod, mPhase, mTrunc, mToolError, mResultType, mEra, mStatus, mCode:
		return whole
	case mTS, mMono, mName, mBytes, mRows, mSession, mSeq, mClock, mConn, mExchange, mPID, mRequestID, mToken:
		if c == 'n' {
			return whole
		}
	case mID:
		if c == 'n' {
			return unfit
		}
	default:
		return unfit
	}
	switch {
	case isText && m == mTS:
		return wallTime
	case isText && (m == mID || m == mRequestID || m == mToken):
		return token
	case isText:
		return text
	}
	return numeral
}

// Next reads the first line of span into f if the line is one of those that the decoder knows at sight, and returns its length
// with its line end; such a line is one that Decode would read the same. 0 leaves the line, whatever it is, to Decode, and f
// undefined but for its Line.
func (d *Decoder) Next(span []byte, f *Frame) int {
	f.blank()
	n := d.shapes.match(span, f)
	if n == 0 {
		d.shapes.giveUp()
	}
	return n
}

// match reads the line that b begins with by a known shape, and returns its length with its line end, which the end of b may
// stand for; 0 when no shape fits. f must be blank, and is spoiled when no shape fits.
//
// What most values need stands here and not in functions: with a call for each literal and each value it is 3 to 8 % slower.
func (s *shapes) match(b []byte, f *Frame) int {
	node, i := &s.root, 0
	for {
		branch := node.only
		if node.fork != nil {
			branch = node.fork.choose(b, i)
		}
		if branch == nil {
			return 0
		}
		for _, w := range branch.words {
			if i < 0 || i > len(b)-8 || load8(b[i:]) != w {
				return 0
			}
			i += 8
		}
		if load(b, i)&branch.restMask != branch.rest {
			return 0
		}
		i += branch.restSize
		end := i
		switch branch.form {
		case numeral:
			x := load(b, i) ^ zeros
			count := digitCount(x)
			if count == 0 || byte(x) == 0 && count > 1 {
				return 0 // signs and leading zeros are for the decoder
			}
			n := digitValue(x, count)
			if end += count; count == 8 {
				n, end = moreDigits(b, end, n)
			}
			switch branch.value {
			case mMono:
				f.At.Mono(n)
			case mID:
				f.ID = b[i:end:end]
			case mBytes:
				f.Bytes = n
			case mRows:
				f.Rows = n
			default:
				s.number(branch.value, n, b[i:end:end], f)
			}
		case text, token:
			stop := branch.stop
			hit := uint64(0)
			for hit == 0 {
				w := load(b, end) // zeros behind the end of b are control characters
				hit = special(w) | w&stop
				end += 8
			}
			end += firstByte(hit) - 8
			switch branch.value {
			case mName:
				f.Name = b[i:end:end]
			case mSession:
				f.Session = b[i:end:end]
			default:
				if !s.text(branch, b, i, end, f) {
					return 0
				}
			}
		case wallTime:
			if end = s.last.read(b, i, &f.At); end == 0 {
				return 0
			}
		case skipped:
			if end = passOver(b, i); end == 0 {
				return 0
			}
		default:
			if end = lineEnd(b, i); end > 0 {
				s.fix(branch.ends, f)
			}
			return end
		}
		i, node = end, &branch.next
	}
}

// choose picks the branch whose literal may stand at b[i]: the only one that has the bytes by which it was told from the others.
func (n *shapeFork) choose(b []byte, i int) *shapeBranch {
again:
	w := load(b, i+n.at)
	for k := range n.ways {
		way := &n.ways[k]
		if w&way.mask != way.key {
			continue
		}
		if way.fork == nil {
			return way.branch
		}
		n = way.fork
		goto again
	}
	return nil
}

// lineEnd is the index behind the line end at b[i], or i when b ends there; 0 when the line goes on.
func lineEnd(b []byte, i int) int {
	switch {
	case i >= len(b):
		return i
	case b[i] == '\n':
		return i + 1
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return i + 2
	}
	return 0
}

// extra is where the rare members of the line go.
func (s *shapes) extra() *More {
	if len(s.mores) == 0 {
		s.mores = make([]More, 16) // few enough that whoever keeps one keeps little
	}
	return &s.mores[0]
}

// giveUp forgets what a line that no shape fits has written.
func (s *shapes) giveUp() {
	if len(s.mores) > 0 {
		s.mores[0] = More{}
	}
}

// fix writes what the shape fixes.
func (s *shapes) fix(c *shapeConst, f *Frame) {
	t := &c.frame
	f.Side, f.Dir, f.Kind, f.Phase, f.Trunc, f.Method = t.Side, t.Dir, t.Kind, t.Phase, t.Trunc, t.Method
	if c.more == nil {
		return
	}
	m := s.extra()
	s.mores = s.mores[1:]
	m.ResultType, m.Era, m.ToolError = c.more.ResultType, c.more.Era, c.more.ToolError
	m.Code, m.HasCode, m.Status, m.HasStatus = c.more.Code, c.more.HasCode, c.more.Status, c.more.HasStatus
	f.More = m
}

// number takes the integer n, written as b, of a rare member.
func (s *shapes) number(m member, n int64, b []byte, f *Frame) {
	switch m {
	case mSeq:
		more := s.extra()
		more.Seq, more.HasSeq = n, true
	case mRequestID, mToken:
		s.token(m, b, f)
	case mConn, mExchange, mPID:
		s.label(m, b)
	}
}

func (s *shapes) token(m member, b []byte, f *Frame) {
	switch m {
	case mID:
		f.ID = b
	case mRequestID:
		f.RequestID = b
	case mToken:
		s.extra().Token = b
	}
}

// text takes a string, b[i:end], that is a token or the text of a rare member.
func (s *shapes) text(branch *shapeBranch, b []byte, i, end int, f *Frame) bool {
	if branch.form == text {
		s.label(branch.value, b[i:end:end])
		return true
	}
	if end >= len(b) {
		return false
	}
	s.token(branch.value, b[i-1:end+1:end+1], f)
	return true
}

// label takes the text of a rare member.
func (s *shapes) label(m member, b []byte) {
	more := s.extra()
	switch m {
	case mClock:
		more.Clock = b
	case mConn:
		more.Conn = b
	case mExchange:
		more.Exchange = b
	case mPID:
		more.PID = b
	}
}
