package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// sample diagnoses a pair of logs under samples.
func sample(t *testing.T, dir string) *diagnose.Diagnosis {
	t.Helper()
	read := func(side frame.Side) string {
		b, err := os.ReadFile(filepath.Join("../samples", dir, side.String()+".log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return logtest.Diagnose(t, logtest.ReadText(t, frame.Client, read(frame.Client)), logtest.ReadText(t, frame.Server, read(frame.Server)))
}

// embedded are the parts of the page that are files of this package.
var embedded = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|'sha256-[^']*'`)

func TestGolden(t *testing.T) {
	for name, dir := range map[string]string{"founding": ".", "incident": "incident"} {
		d := sample(t, dir)
		for _, f := range report.Formats() {
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				var b bytes.Buffer
				if err := f.Write(&b, d, report.Style{Width: 100}); err != nil {
					t.Fatal(err)
				}
				compare(t, filepath.Join("testdata", name+"."+f.Name+".golden"), embedded.ReplaceAll(b.Bytes(), []byte("…")))
			})
		}
	}
}

func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range g {
		if i >= len(w) || !bytes.Equal(g[i], w[i]) {
			t.Fatalf("%s:%d (go test ./report -update rewrites it)\n got %.300s\nwant %.300s", path, i+1, g[i], append(w, []byte("(nothing)"))[min(i, len(w))])
		}
	}
	t.Fatalf("%s has %d lines, want %d", path, len(g), len(w))
}
