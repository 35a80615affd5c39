//go:build unix

package tap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRemoved: a log removed under the recorder is begun again, and says what went with the old one; a rotated one lost nothing.
func TestRemoved(t *testing.T) {
	for _, test := range []struct {
		name    string
		away    func(path string) error
		dropped int64
		lines   int
	}{
		{"removed", os.Remove, 2, 1},
		{"rotated", func(path string) error { return os.Rename(path, path+".1") }, 0, 0},
	} {
		path := filepath.Join(t.TempDir(), "server.log")
		said := &complaints{}
		s := sink{program: "mcpdiag", path: path, stderr: said, gap: func(n int64, _ time.Time) []byte { return fmt.Appendf(nil, "gap %d\n", n) }}
		s.put(batch{bytes: []byte("one\ntwo\n"), records: 2})
		if err := test.away(path); err != nil {
			t.Fatal(err)
		}
		s.checked = time.Time{}
		s.put(batch{bytes: []byte("three\n"), records: 1})
		s.close()
		got, err := os.ReadFile(path)
		want := "three\n"
		if test.dropped > 0 {
			want = fmt.Sprintf("gap %d\nthree\n", test.dropped)
		}
		if err != nil || string(got) != want || strings.Count(said.String(), "\n") != test.lines {
			t.Errorf("%s: %v %q %s", test.name, err, got, said)
		}
	}
}
