package ingest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// spillFile is a temporary file without a name, mapped piece by piece. It is gone with the process, however that ends.
type spillFile struct {
	f     *os.File
	size  int64
	maps  [][]byte
	statm *os.File // how much memory the process has, of what kind
	other int64    // pages of other files that were in memory before: the program itself
}

func newSpillFile(dir string) (*spillFile, error) {
	f, err := os.CreateTemp(dir, "halves-*")
	if err != nil {
		return nil, err
	}
	s := &spillFile{f: f}
	if s.statm, err = os.Open("/proc/self/statm"); err == nil {
		s.other = s.shared()
	}
	return s, os.Remove(f.Name())
}

// shared counts the pages in memory that belong to files.
func (s *spillFile) shared() int64 {
	var text [128]byte
	n, _ := s.statm.ReadAt(text[:], 0)
	var size, resident, shared int64
	fmt.Sscan(string(text[:n]), &size, &resident, &shared)
	return shared
}

// resident is how many bytes of the file are in memory's account, more or less.
func (s *spillFile) resident() int64 {
	if s.statm == nil {
		return s.size
	}
	return (s.shared() - s.other) * int64(unix.Getpagesize())
}

// grow maps more of the file. Its blocks are taken from the disk first: a full disk is an error here, and else a signal at the
// first write.
func (s *spillFile) grow(size int64) ([]byte, error) {
	page := int64(unix.Getpagesize())
	size = (size + page - 1) / page * page
	if err := unix.Fallocate(int(s.f.Fd()), 0, s.size, size); err != nil {
		return nil, err
	}
	room, err := unix.Mmap(int(s.f.Fd()), s.size, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	s.size += size
	s.maps = append(s.maps, room)
	return room, nil
}

// letGo takes the mapped pages out of memory's account. The kernel keeps what was written, in its cache or on the disk.
func (s *spillFile) letGo() {
	for _, room := range s.maps {
		_ = unix.Madvise(room, unix.MADV_DONTNEED)
	}
}

func (s *spillFile) close() {
	if s == nil {
		return
	}
	for _, room := range s.maps {
		_ = unix.Munmap(room)
	}
	s.f.Close()
}
