package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// grow appends to a file.
func grow(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// says spells what a follower holds: for each file, the lines skipped and the text.
func says(f *Follower) string {
	var parts []string
	for _, s := range f.Sources() {
		parts = append(parts, fmt.Sprintf("%d:%s", s.Skipped, strings.ReplaceAll(string(s.Text), "\n", ",")))
	}
	return strings.Join(parts, " ")
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	f := Follow(ParseSource(path), 1<<20)
	defer f.Close()
	step := func(what string, wantGrew bool, want string) {
		t.Helper()
		grew, err := f.Poll()
		if err != nil || grew != wantGrew || says(f) != want {
			t.Fatalf("%s: grew %v, %v, holds %q, want %v, %q", what, grew, err, says(f), wantGrew, want)
		}
	}
	step("no file yet", false, "0:")
	grow(t, path, "a\nb\nhalf")
	step("a cut line waits", true, "0:a,b,")
	step("nothing new", false, "0:a,b,")
	grow(t, path, " line\n")
	step("the line is whole", true, "0:a,b,half line,")
	f.Drop(2)
	step("lines that are gone still count", false, "2:half line,")

	grow(t, path, "last of the old")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	step("moved away, nothing in its place", false, "2:half line,")
	grow(t, path+".1", " file")
	grow(t, path, "new\n")
	step("rotated: the old file is read to its end", true, "2:half line,last of the old file, 0:new,")

	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	grow(t, path, "x\n")
	step("truncated in place", true, "2:half line,last of the old file, 0:new, 0:x,")
	f.Drop(3)
	step("files that are gone go", false, "0:x,")
	if f.Dropped() != 5 || f.Held() != 2 {
		t.Errorf("dropped %d lines, holds %d B, want 5 and 2", f.Dropped(), f.Held())
	}
}

func TestFollowIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	line := strings.Repeat("x", 99) + "\n"
	grow(t, path, strings.Repeat(line, 50_000)) // 5 MB stand there already
	f := Follow(ParseSource(path), 1<<20)
	defer f.Close()
	for round := range 20 {
		if _, err := f.Poll(); err != nil {
			t.Fatal(err)
		}
		if f.Held() > 1<<20 || f.Held() < 100_000 {
			t.Fatalf("round %d: %d B are held of a window of 1 MiB", round, f.Held())
		}
		s := f.Sources()[0]
		if got, want := int(s.Skipped)+len(s.Text)/100, 50_000+round*10_000; got != want {
			t.Fatalf("round %d: the last line is number %d, want %d", round, got, want)
		}
		grow(t, path, strings.Repeat(line, 10_000))
	}
	grow(t, path, strings.Repeat("y", 20<<20)) // a line without an end
	for range 30 {
		if _, err := f.Poll(); err != nil {
			t.Fatal(err)
		}
	}
	if f.Held()+cap(f.partial) > 40<<20 {
		t.Errorf("%d B are held", f.Held()+cap(f.partial))
	}
}
