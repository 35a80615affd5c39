package frame

import (
	"bytes"
	"strings"
	"testing"
)

// What begins with a line is read as the line is, whatever follows it.
func TestDecodeLine(t *testing.T) {
	for _, test := range messages {
		for _, tail := range []string{"\n", "\r\n", " \n", "\n\n", "\n}\n", "\n" + test.text + "\n", "", "\r", "x\n", "\x00\n"} {
			checkLine(t, []byte(test.text+tail))
		}
		for i := range len(test.text) { // a line ends at LF wherever that stands
			checkLine(t, []byte(test.text[:i]+"\n"+test.text[i:]+"\n"))
			checkLine(t, []byte(test.text[:i]))
		}
	}
	long := strings.Repeat("0123456789", 500)
	checkLine(t, []byte(`{"id":1,"method":"x","params":{"a":"`+long+`"}}`+"\n{"))
	checkLine(t, []byte(`{"id":1,"method":"x","params":{"a":"`+long+"\n"+long+`"}}`+"\n"))
	checkLine(t, []byte(`{"id":1,"method":"x","params":{"a":`+strings.Repeat("[", 500)+strings.Repeat("]", 500)+"}}\n"))
	checkLine(t, []byte(`{"id":1,"method":"x","params":{"a":`+strings.Repeat("[", 500)+"\n"+strings.Repeat("]", 500)+"}}\n"))
}

// checkLine holds DecodeLine against DecodeMessage of the bytes up to the first LF.
func checkLine(t *testing.T, b []byte) {
	t.Helper()
	var want, got Frame
	size := bytes.IndexByte(b, '\n') + 1
	if size > 0 && DecodeMessage(b[:size], &want) != NoReason {
		size = 0
	}
	if n := DecodeLine(b, &got); n != size || say(&got) != say(&want) {
		t.Fatalf("%q: %d bytes, %s; want %d, %s", b, n, say(&got), size, say(&want))
	}
}

func FuzzDecodeLine(f *testing.F) {
	for _, test := range messages {
		f.Add([]byte(test.text + "\n"))
	}
	f.Add([]byte("{\"id\":1,\n\"method\":\"x\"}\n"))
	f.Fuzz(checkLine)
}
