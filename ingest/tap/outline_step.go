package tap

import (
	"mcpdiag/ingest/frame"
)

// step reads one byte outside the plain inside of a string; false when the byte has to be read again, as what comes after the
// number that it ended.
func (o *outline) step(c byte) bool {
	switch {
	case o.state >= afterMinus:
		return o.number(c)
	case o.state == inWord:
		o.letter(c)
	case o.state == inEscape:
		o.escape(c)
	case o.state == inHex:
		o.hexDigit(c)
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	default:
		o.token(c)
	}
	return true
}

// token reads the first byte of something.
func (o *outline) token(c byte) {
	switch o.state {
	case wantFirstKey, wantKey:
		switch {
		case c == '"':
			o.state, o.inKey, o.keyLong = inString, true, false
			o.key = append(o.key[:0], c)
		case c == '}' && o.state == wantFirstKey:
			o.end(c)
		default:
			o.refuse(frame.NotJSON)
		}
	case wantColon:
		if c != ':' {
			o.refuse(frame.NotJSON)
			return
		}
		o.state = wantValue
		o.choose()
	case wantNext:
		o.next(c)
	default:
		if c == ']' && o.state == wantFirstValue {
			o.end(c)
			return
		}
		o.value(c)
	}
}

// choose decides whether the value of the member whose name was just read is kept.
func (o *outline) choose() {
	if o.depth != o.base()+len(o.places) || len(o.places) == 0 {
		return // within something that is not kept
	}
	_, o.keep = o.member()
	if !o.keep {
		return
	}
	if n := len(o.kept); n > 0 && o.kept[n-1] != '{' {
		o.emit(',')
	}
	o.emit(o.key...)
	o.emit(':')
	o.begun = len(o.kept)
}

func (o *outline) member() (place, bool) {
	if o.keyLong {
		return elsewhere, false
	}
	return member(o.places[len(o.places)-1], unquote(o.key))
}

// base is how deep messages stand: an array of them is one level.
func (o *outline) base() int {
	if o.batch {
		return 1
	}
	return 0
}

func (o *outline) next(c byte) {
	switch {
	case o.depth == 0:
		o.refuse(frame.NotJSON)
	case c == '}' || c == ']':
		o.end(c)
	case c != ',':
		o.refuse(frame.NotJSON)
	case o.isObject():
		o.state = wantKey
	default:
		o.state = wantValue
	}
}

// value reads the first byte of a value.
func (o *outline) value(c byte) {
	switch c {
	case '{', '[':
		o.begin(c)
		return
	case '"':
		o.state = inString
	case 't':
		o.state, o.word = inWord, "rue"
	case 'f':
		o.state, o.word = inWord, "alse"
	case 'n':
		o.state, o.word = inWord, "ull"
	case '-':
		o.state = afterMinus
	case '0':
		o.state = afterZero
	default:
		if c < '1' || c > '9' {
			o.refuse(frame.NotJSON)
			return
		}
		o.state = inDigits
	}
	o.emit(c)
}

// begin opens an object or an array, and decides whether its inside is kept.
func (o *outline) begin(c byte) {
	if o.depth == 0 && c == '[' {
		o.batch = true
	}
	enter := c == '{' && o.enters()
	switch {
	case enter:
		o.keep = true
		o.emit('{')
		o.keep = false
	case c == '{':
		o.emit('{', '}')
	default:
		o.emit('[', ']')
	}
	o.push(c)
	if !enter {
		o.keep = false
	}
}

// enters reports whether the object that begins is one that messages are read from, and notes its place.
func (o *outline) enters() bool {
	if o.depth == o.base() && len(o.places) == 0 {
		o.places, o.kept, o.overflow, o.start = append(o.places, envelope), o.kept[:0], false, o.offset
		return true
	}
	if !o.keep || o.depth != o.base()+len(o.places) {
		return false
	}
	inside, _ := o.member()
	if inside == elsewhere {
		return false
	}
	o.places = append(o.places, inside)
	return true
}

func (o *outline) push(c byte) {
	if o.depth++; o.depth > frame.MaxNesting {
		o.refuse(frame.Nesting)
		return
	}
	bit := uint64(1) << (o.depth % 64)
	o.object[o.depth/64] &^= bit
	o.state = wantFirstValue
	if c == '{' {
		o.object[o.depth/64] |= bit
		o.state = wantFirstKey
	}
}

func (o *outline) isObject() bool { return o.object[o.depth/64]>>(o.depth%64)&1 == 1 }

// end closes an object or an array.
func (o *outline) end(c byte) {
	if o.isObject() != (c == '}') {
		o.refuse(frame.NotJSON)
		return
	}
	if n := len(o.places); n > 0 && o.depth == o.base()+n {
		o.places = o.places[:n-1]
		o.keep = true
		o.emit('}')
		if n == 1 {
			o.depth--
			o.message()
			o.depth++
		}
	}
	o.depth--
	o.endValue()
}

// endValue is told that a value is over.
func (o *outline) endValue() {
	o.keep = false
	o.state = wantNext
	if o.batch && o.depth == 1 && !o.fresh {
		o.bad++
	}
	o.fresh = false
}

func (o *outline) letter(c byte) {
	if c != o.word[0] {
		o.refuse(frame.NotJSON)
		return
	}
	o.emit(c)
	if o.word = o.word[1:]; o.word == "" {
		o.endValue()
	}
}

func (o *outline) escape(c byte) {
	o.say([]byte{c})
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		o.state = inString
	case 'u':
		o.state, o.hex = inHex, 4
	default:
		o.refuse(frame.NotJSON)
	}
}

func (o *outline) hexDigit(c byte) {
	if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
		o.refuse(frame.NotJSON)
		return
	}
	o.say([]byte{c})
	if o.hex--; o.hex == 0 {
		o.state = inString
	}
}

// number reads one byte of a number, or finds that it is over: then the byte is read again.
func (o *outline) number(c byte) bool {
	digit := c >= '0' && c <= '9'
	next := o.state
	switch o.state {
	case afterMinus:
		next = inDigits
		if c == '0' {
			next = afterZero
		}
	case afterPoint:
		next = inFraction
	case afterSign, inExponent:
		next = inExponent
	case afterE:
		next = inExponent
		if c == '+' || c == '-' {
			next, digit = afterSign, true
		}
	case afterZero, inDigits, inFraction:
		switch {
		case c == '.' && o.state != inFraction:
			next, digit = afterPoint, true
		case c|0x20 == 'e':
			next, digit = afterE, true
		case o.state == afterZero:
			digit = false
		}
	}
	if digit {
		o.state = next
		o.emit(c)
		return true
	}
	if o.state == afterMinus || o.state == afterPoint || o.state == afterE || o.state == afterSign {
		o.refuse(frame.NotJSON)
		return true
	}
	o.endValue()
	return false
}
