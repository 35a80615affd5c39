package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpdiag/ingest/frame"
)

const (
	framesRequest  = `{"side":"client","dir":"c2s","kind":"request","id":1,"method":"ping"}` + "\n"
	framesServer   = `{"side":"server","dir":"c2s","kind":"request","id":1,"method":"ping"}` + "\n"
	framesSideless = `{"dir":"c2s","kind":"request","id":1,"method":"ping"}` + "\n"
)

// framesLog puts text into a file of the test and names it as a source.
func framesLog(t *testing.T, name, text string) Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Source{Path: path, Label: name}
}

// sayFrames scans a set and spells what it visits.
func sayFrames(t *testing.T, set Set) (string, *Tally) {
	t.Helper()
	var said strings.Builder
	tally, err := Frames(context.Background(), set, Options{}, Visitor{
		Frame: func(p *Place, f *frame.Frame) error {
			fmt.Fprintf(&said, "%s:%d/%d %s %s", p.Path, p.Line, p.SetLine, p.Log, f.ID)
			if p.Guessed {
				said.WriteString(" guessed")
			}
			if f.Line != p.Line {
				t.Errorf("line %d at %d", f.Line, p.Line)
			}
			said.WriteByte('\n')
			return nil
		},
		Bad: func(p *Place, b BadLine) {
			fmt.Fprintf(&said, "%s:%d/%d %s %.8q\n", p.Path, b.Line, p.SetLine, b.Reason, b.Prefix)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return said.String(), tally
}

func TestFrames(t *testing.T) {
	set := Set{Sources: []Source{
		framesLog(t, "a.log", "words\n\n"+framesRequest+framesServer+"\x00\x00"+framesSideless+`{"kin`),
		framesLog(t, "b.log", framesRequest+framesRequest),
	}}
	got, tally := sayFrames(t, set)
	want := `a.log:1/1 not JSON "words"
a.log:3/3 client 1
a.log:4/4 server 1
a.log:5/5 hole of 2 NUL bytes "{\"dir\":\""
a.log:5/5 client 1
a.log:6/6 not JSON "{\"kin"
b.log:1/7 client 1
b.log:2/8 client 1
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if tally.Records != 5 || tally.Unreadable != 2 || tally.Bytes == 0 || tally.Cut != nil {
		t.Errorf("tally is %+v", tally)
	}
}

func TestFramesSides(t *testing.T) {
	log := framesLog(t, "a.log", framesSideless+framesServer)
	for _, test := range []struct {
		side frame.Side
		want string
	}{
		{frame.NoSide, "a.log:1/1 client 1 guessed\na.log:2/2 server 1\n"},
		{frame.Server, "a.log:1/1 server 1\na.log:2/2 server 1\n"},
		{frame.Client, "a.log:1/1 client 1\na.log:2/2 client 1\n"}, // the command line decides
	} {
		if got, _ := sayFrames(t, Set{Sources: []Source{log}, Side: test.side}); got != test.want {
			t.Errorf("%s: got\n%s", test.side, got)
		}
	}
}

// A scan sees what Read sees: the same sides, the same counts, over spans too.
func TestFramesAgreesWithRead(t *testing.T) {
	var text strings.Builder
	for id := range 20_000 {
		fmt.Fprintf(&text, `{"side":"client","dir":"c2s","kind":"request","id":%d}`+"\nnoise\n"+`{"side":"server","dir":"s2c","kind":"response","id":%d}`+"\n", id, id)
	}
	long := framesLog(t, "long.log", text.String())
	for _, set := range []Set{
		{Sources: []Source{long}},
		{Sources: []Source{{Path: "../samples/incident/client.log", Label: "c"}}},
		{Sources: []Source{{Path: "../samples/incident/server.log", Label: "s"}}, Side: frame.Server},
		{Sources: []Source{{Path: "../samples/incident/client.log", Label: "c"}, {Path: "../samples/incident/server.log", Label: "s"}}},
	} {
		logs, err := Read(context.Background(), set, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var records [4]uint64
		last := uint32(0)
		tally, err := Frames(context.Background(), set, Options{}, Visitor{Frame: func(p *Place, _ *frame.Frame) error {
			records[p.Log]++
			if p.SetLine <= last {
				t.Fatalf("line %d after %d", p.SetLine, last)
			}
			last = p.SetLine
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			if records[l.Side] != l.Records || tally.Unreadable != uint64(len(l.BadLines)) {
				t.Errorf("%s %s: %d records and %d unreadable, Read has %d and %d", l.Path, l.Side, records[l.Side], tally.Unreadable, l.Records, len(l.BadLines))
			}
		}
	}
}

func TestFramesStops(t *testing.T) {
	long := framesLog(t, "long.log", strings.Repeat(framesRequest, 20_000))
	stop := errors.New("enough")
	n := 0
	_, err := Frames(context.Background(), Set{Sources: []Source{long}}, Options{}, Visitor{Frame: func(*Place, *frame.Frame) error {
		if n++; n == 10_000 {
			return stop
		}
		return nil
	}})
	if !errors.Is(err, stop) || n != 10_000 {
		t.Errorf("%v after %d", err, n)
	}
	var input *InputError
	if _, err := Frames(context.Background(), Set{Sources: []Source{{Path: "nowhere.log", Label: "nowhere.log"}}}, Options{}, Visitor{}); !errors.As(err, &input) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestFramesCutStream(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(strings.Repeat(framesRequest, 100)))
	w.Flush()
	_, tally := sayFrames(t, Set{Sources: []Source{framesLog(t, "a.log.gz", z.String())}})
	if tally.Records != 100 || len(tally.Cut) != 1 || tally.Cut[0].Path != "a.log.gz" {
		t.Errorf("tally is %+v", tally)
	}
}
