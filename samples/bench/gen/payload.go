package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// rows are JSON objects ready to be put into a payload, each as an object and as the inside of a JSON string.
type rows struct {
	object, escaped [][]byte
}

// newRows prepares rows with what a reader may trip over: nesting, escapes, quotes and braces inside strings, text that is
// not ASCII, and the separators U+2028 and U+2029, which are no line ends.
func newRows() rows {
	notes := []string{"paid", "say \"no\"\nthen wait", `C:\ledger\2026`, "Ünïted Çurrency – 1.204,50 €", "請求書は期限切れです", "{\"id\":47}", "tab\there", "line\u2028sep\u2029par", "🧾 receipt"}
	var r rows
	for i := range 251 { // a prime: neighbouring calls start at different rows
		h := mix(uint64(i))
		row := fmt.Sprintf(`{"invoice":{"id":%d,"lines":[{"sku":"A-%04d","net":%d.%02d},{"sku":"B-%04d","net":null}]},"customer":"Zoë Ångström %d","open":%t,"note":%s}`,
			100000+h%900000, h%9999, h%5000, h%100, h>>20%9999, h%977, h&1 == 0, quoted(notes[i%len(notes)]))
		text := quoted(row)
		r.object = append(r.object, []byte(row))
		r.escaped = append(r.escaped, text[1:len(text)-1])
	}
	return r
}

// quoted is s as JSON. Marshal would escape the two separators; most other writers leave them as they are.
func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	b = bytes.ReplaceAll(b, []byte(`\u2028`), []byte("\u2028"))
	return bytes.ReplaceAll(b, []byte(`\u2029`), []byte("\u2029"))
}

// message is the JSON-RPC message of an event, about w.payload bytes: half of it text in a string, half structured.
func (w *lineWriter) message(b []byte, e event) []byte {
	b = w.id(append(b, `{"jsonrpc":"2.0","id":`...), e.call)
	switch e.kind {
	case request:
		method, name := subject(e.call)
		b = fmt.Appendf(b, `,"method":%q,"params":{"name":%q,"arguments":{"text":"`, method, name)
	case failure:
		b = append(b, `,"error":{"code":-32603,"message":"internal error","data":{"text":"`...)
	default:
		b = append(b, `,"result":{"content":[{"type":"text","text":"`...)
	}
	next := e.call
	b, next = fill(b, w.rows.escaped, next, `\n`, w.payload/2)
	if e.kind == response {
		b = append(b, `"}],"structuredContent":{"rows":[`...)
	} else {
		b = append(b, `","rows":[`...)
	}
	b, _ = fill(b, w.rows.object, next, ",", w.payload-4)
	return append(b, `]}}}`...)
}

// fill appends pieces, from number next on, until b has about size bytes.
func fill(b []byte, pieces [][]byte, next int, separator string, size int) ([]byte, int) {
	for first := true; first || len(b) < size; first = false {
		if !first {
			b = append(b, separator...)
		}
		b = append(b, pieces[next%len(pieces)]...)
		next++
	}
	return b, next
}
