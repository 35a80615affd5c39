package frame

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// learned is a decoder that has seen a few lines of each shape of the benchmark's logs, and the records of the other tests.
func learned() *Decoder {
	var d Decoder
	var f Frame
	for _, log := range benchLogs {
		for n := range 40 {
			d.Decode(bytes.TrimSuffix(log.line(nil, n), []byte("\n")), &f)
		}
	}
	for _, test := range records {
		d.Decode([]byte(test.line), &f)
	}
	return &d
}

// Each line of the logs is one that the decoder knows at sight once it has seen its like.
func TestShapesHold(t *testing.T) {
	d := learned()
	for _, log := range benchLogs {
		for n := 1000; n < 1040; n++ {
			line := log.line(nil, n)
			var f Frame
			if size := d.Next(append(line, "{}\n"...), &f); size != len(line) {
				t.Fatalf("%s: read %d of %.300q", log.name, size, line)
			}
			checkShape(t, d, line)
		}
	}
}

// checkShape holds what a decoder that has learned shapes says about text, a line or several, against one that has not.
func checkShape(t *testing.T, warm *Decoder, text []byte) {
	t.Helper()
	warm.Warnings = Warnings{}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	got, want := Frame{Line: 7, Method: []byte("stale"), More: &More{Seq: 5}}, Frame{Line: 7}
	size := warm.Next(text, &got)
	if size == 0 {
		got = Frame{Line: 7, Name: []byte("stale"), Trunc: true}
		checkDecode(t, warm, line)
		return
	}
	var cold Decoder
	reason := cold.Decode(line, &want)
	if reason != NoReason || cold.Warnings != (Warnings{}) || !reflect.DeepEqual(got, want) {
		t.Fatalf("%.400q\nshape   %s\ndecoder %s (%s)", line, sayRecord(&got), sayRecord(&want), reason)
	}
	if end := min(len(line)+1, len(text)); size != end {
		t.Fatalf("%.400q: read %d bytes of a line of %d", text, size, end)
	}
	checkDecode(t, warm, line)
}

func checkDecode(t *testing.T, warm *Decoder, line []byte) {
	t.Helper()
	got, want := Frame{Line: 7, Name: []byte("stale"), Trunc: true}, Frame{Line: 7}
	var cold Decoder
	before := warm.Warnings
	a, b := warm.Decode(line, &got), cold.Decode(line, &want)
	before.Add(&cold.Warnings)
	if a != b || warm.Warnings != before || a == NoReason && !reflect.DeepEqual(got, want) {
		t.Fatalf("%.400q\nwarm %s (%s)\ncold %s (%s)", line, sayRecord(&got), a, sayRecord(&want), b)
	}
}

// Every line with one byte taken out, doubled, or changed into one that means something to JSON, and every beginning of it.
func TestShapesOnDamage(t *testing.T) {
	d := learned()
	for _, log := range benchLogs[:3] {
		for n := 1000; n < 1008; n++ {
			line := log.line(nil, n)
			for i := range line {
				checkShape(t, d, line[:i])
				checkShape(t, d, append(line[:i:i], line[i+1:]...))
				checkShape(t, d, append(line[:i+1:i+1], line[i:]...))
				for _, c := range []byte("\"\\{}[],:0195-.eEZz \t\r\n\x00\x1f\x7f\x80\xc3tn") {
					checkShape(t, d, append(append(line[:i:i], c), line[i+1:]...))
				}
			}
			d.shapes.count, d.shapes.root = 0, shapeNode{} // and again, with shapes that were learned from damage
		}
	}
}

// Before any second is remembered, NUL bytes must not look like it.
func TestShapesWithoutTime(t *testing.T) {
	line := `{"ts":"2026-03-02T09:41:03Z","mono_ns":5,"side":"client","dir":"c2s","kind":"request","id":1,"session":"s0123456"}`
	var d Decoder
	var f Frame
	d.Decode([]byte(line), &f)
	checkShape(t, &d, []byte(strings.Replace(line, "2026-03-02T09:41:03Z", strings.Repeat("\x00", 19)+".5", 1)))
	checkShape(t, &d, []byte(line))
}

func FuzzShapes(f *testing.F) {
	for _, test := range records {
		f.Add([]byte(test.line), uint16(0), []byte{})
	}
	for _, log := range benchLogs[:3] {
		for n := range 8 {
			f.Add(log.line(nil, n), uint16(n*20), []byte(`",1`))
		}
	}
	const zones = `{"ts":"2026-03-02T09:41:03.119+01:00","mono_ns":123456789012345678,"side":"client","dir":"c2s","kind":"request","id":null,"frame":{"a":[1, 2.5e-3,true,null,"\u00e9"]}}` + "\r\n"
	f.Add([]byte(zones), uint16(30), []byte("999999999"))
	warm := learned()
	f.Fuzz(func(t *testing.T, line []byte, at uint16, put []byte) {
		checkShape(t, warm, line)
		i := min(int(at), len(line))
		damaged := append(append(line[:i:i], put...), line[min(i+len(put), len(line)):]...)
		checkShape(t, warm, damaged)
		var fresh Decoder // which learns from the line, and then meets it damaged
		whole, _, _ := bytes.Cut(line, []byte("\n"))
		var r Frame
		fresh.Decode(whole, &r)
		checkShape(t, &fresh, line)
		checkShape(t, &fresh, damaged)
		checkPassOver(t, line, i)
	})
}

// checkPassOver holds passOver against the scanner's walk: it may refuse, but not accept, what that does not.
func checkPassOver(t *testing.T, b []byte, i int) {
	s := scanner{b: b, i: i}
	bad := s.walk()
	if end := passOver(b, i); end > 0 && (bad != fine || end != s.i) {
		t.Fatalf("%q from %d: passed to %d; the walk ended at %d (%d)", b, i, end, s.i, bad)
	}
}
