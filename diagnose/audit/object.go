package audit

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
)

// object is a JSON object; its methods answer for a nil one, too.
type object map[string]any

// parse reads a JSON text. Numbers keep their digits.
func parse(text []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

func asObject(v any) object {
	m, _ := v.(map[string]any)
	return m
}

// inOrder goes over the members by name: a map's own order would name another culprit at each run.
func (o object) inOrder() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			if !yield(name, o[name]) {
				return
			}
		}
	}
}

func (o object) has(name string) bool {
	_, ok := o[name]
	return ok
}

func (o object) object(name string) object { return asObject(o[name]) }

func (o object) isObject(name string) bool { return o.object(name) != nil }

func (o object) text(name string) string {
	s, _ := o[name].(string)
	return s
}

func (o object) isText(name string) bool {
	_, ok := o[name].(string)
	return ok
}

func (o object) list(name string) []any {
	l, _ := o[name].([]any)
	return l
}

func (o object) isList(name string) bool {
	_, ok := o[name].([]any)
	return ok
}

// isInteger reports whether v is a JSON number without a fraction, however it is written.
func isInteger(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	if !strings.ContainsAny(string(n), ".eE") {
		return true
	}
	f, err := n.Float64()
	return err == nil && f == math.Trunc(f)
}

// integer is the value of an integer that an int64 holds.
func integer(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// isToken reports whether v can be an id or a progress token: a string or an integer.
func isToken(v any) bool {
	_, text := v.(string)
	return text || isInteger(v)
}

// token is a value as a map's key; its JSON type counts.
func token(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// state says what is wrong with a member: absent or invalid.
func (o object) state(name string) string {
	if !o.has(name) {
		return "absent"
	}
	return "invalid"
}

func allText(l []any) bool {
	for _, v := range l {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}
