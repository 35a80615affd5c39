package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
)

// Source is one file to read: a path, "-" for standard input, or label=path, which cites it by another name.
type Source struct {
	Path  string
	Label string

	// Text is read instead of the file when it is not nil; Numbers are the numbers of its lines in the file that is cited.
	Text    []byte
	Numbers []uint32
}

// ParseSource reads an argument. A file whose name holds a "=" is still a file.
func ParseSource(arg string) Source {
	if label, path, ok := strings.Cut(arg, "="); ok && label != "" && path != "" {
		if _, err := os.Stat(arg); err != nil {
			return Source{Path: path, Label: label}
		}
	}
	return Source{Path: arg, Label: arg}
}

// InputError is an input that cannot be read as a log at all.
type InputError struct {
	Path string
	Line int // 0 when it is about the whole
	What string
	Hint string
}

func (e *InputError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.What)
	}
	return fmt.Sprintf("%s: %s", e.Path, e.What)
}

// opened is a source being read: plain UTF-8 text, whatever it was on disk.
type opened struct {
	io.Reader
	close  []func() error
	cut    error // how a compressed stream ended, when it ended early
	size   int64
	stream bool
}

func (o *opened) Close() {
	for i := len(o.close) - 1; i >= 0; i-- {
		o.close[i]()
	}
}

// Read turns the early end of a compressed stream into an end of file that is remembered: what came before it counts.
func (o *opened) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil && err != io.EOF && o.stream {
		o.cut, err = err, io.EOF
	}
	return n, err
}

// open opens a source and looks at its first bytes: compression and encoding are told by content, never by name.
func (s Source) open(ctx context.Context, stdin io.Reader) (*opened, error) {
	o := &opened{}
	var raw io.Reader
	switch {
	case s.Text != nil:
		raw = bytes.NewReader(s.Text)
	case s.Path == "-":
		raw = interruptible(ctx, stdin)
	default:
		f, err := openFile(s.Path)
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err == nil {
			o.size = info.Size()
		}
		o.close = append(o.close, f.Close)
		raw = f
	}
	if err := o.decode(raw); err != nil {
		o.Close()
		return nil, &InputError{Path: s.Label, What: err.Error(), Hint: "mcpdiag reads text logs, plain or as gzip, zstd or UTF-16 with a mark"}
	}
	return o, nil
}

func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, &InputError{Path: path, What: err.Error()}
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &InputError{Path: path, What: "is a directory", Hint: "give the log files themselves"}
	}
	return f, nil
}

var utf8Mark = []byte("\xEF\xBB\xBF")

// decode wraps raw in what its first bytes call for.
func (o *opened) decode(raw io.Reader) error {
	r := bufio.NewReaderSize(raw, 64<<10)
	head, _ := r.Peek(8)
	switch {
	case bytes.HasPrefix(head, []byte("\x1F\x8B")):
		z, err := gzip.NewReader(r)
		if err != nil {
			return fmt.Errorf("gzip: %w", err)
		}
		o.close, o.stream = append(o.close, z.Close), true
		return o.decode(z)
	case bytes.HasPrefix(head, []byte("\x28\xB5\x2F\xFD")):
		z, err := zstd.NewReader(r)
		if err != nil {
			return fmt.Errorf("zstd: %w", err)
		}
		o.close, o.stream = append(o.close, func() error { z.Close(); return nil }), true
		return o.decode(z)
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("\xFE\xFF")):
		o.Reader = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(r)
		return nil
	case bytes.HasPrefix(head, utf8Mark):
		r.Discard(len(utf8Mark))
	default:
		if what := otherFormat(head); what != "" {
			return fmt.Errorf("is %s, not a log", what)
		}
	}
	if f, ok := raw.(*os.File); ok && r.Buffered() > 0 && !bytes.HasPrefix(head, utf8Mark) {
		if _, err := f.Seek(0, io.SeekStart); err == nil { // read big spans straight from the file
			o.Reader = f
			return nil
		}
	}
	o.Reader = r
	return nil
}

// otherFormat recognises files that are something else from their first bytes.
func otherFormat(head []byte) string {
	for _, m := range [...]struct{ magic, name string }{
		{"PK\x03\x04", "a ZIP archive"}, {"%PDF-", "a PDF document"}, {"\x89PNG", "a PNG image"}, {"\xFF\xD8\xFF", "a JPEG image"},
		{"\x7FELF", "an ELF program"}, {"SQLite f", "a SQLite database"}, {"PAR1", "a Parquet file"}, {"BZh", "a bzip2 archive"},
		{"\xFD7zXZ", "an xz archive"}, {"\xD4\xC3\xB2\xA1", "a packet capture"}, {"\x0A\x0D\x0D\x0A", "a packet capture"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.name
		}
	}
	return ""
}
