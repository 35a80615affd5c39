//go:build !linux

package ingest

// spillFile is for Linux: elsewhere the halves stay in memory, and only the database spills.
type spillFile struct{}

func newSpillFile(string) (*spillFile, error) { return nil, nil }

func (*spillFile) grow(int64) ([]byte, error) { return nil, nil }

func (*spillFile) letGo() {}

func (*spillFile) resident() int64 { return 0 }

func (*spillFile) close() {}
