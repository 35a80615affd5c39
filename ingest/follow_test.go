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

// says spells what a follower holds: each line and its number in its file.
func says(f *Follower) string {
	s := f.Source()
	var parts []string
	for i, line := range strings.Split(strings.TrimSuffix(string(s.Text), "\n"), "\n") {
		if i < len(s.Numbers) {
			parts = append(parts, fmt.Sprintf("%d:%s", s.Numbers[i], line))
		}
	}
	return strings.Join(parts, ",")
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
	step("no file yet", false, "")
	grow(t, path, "a\nb\nhalf")
	step("a cut line waits", true, "1:a,2:b")
	step("nothing new", false, "1:a,2:b")
	grow(t, path, " line\n")
	step("the line is whole", true, "1:a,2:b,3:half line")
	f.Keep(func(line uint32) bool { return line > 2 })
	step("lines that are gone still count", false, "3:half line")

	grow(t, path, "last of the old")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	step("moved away, nothing in its place", false, "3:half line")
	grow(t, path+".1", " file")
	grow(t, path, "new\n")
	step("rotated: the old file is read to its end", true, "3:half line,4:last of the old file,1:new")

	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	grow(t, path, "x\n")
	step("truncated in place", true, "3:half line,4:last of the old file,1:new,1:x")
	f.Keep(func(line uint32) bool { return line%2 == 0 })
	step("lines out of the middle go", false, "4:last of the old file,1:x")
	if f.Serial(2) != 6 || !f.Holds(4) || f.Holds(5) || f.Complete() || f.Hurried() {
		t.Errorf("the last line is number %d of all, line 4 is held: %v, line 5: %v", f.Serial(2), f.Holds(4), f.Holds(5))
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
		if got, want := int(f.numbers[len(f.numbers)-1]), 50_000+round*10_000; got != want {
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
