package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Scratch is a temporary folder of this process, 0700. Remove removes it on every way out of the program but a kill -9; what that
// leaves behind the next start finds by its name, and removes once nobody holds its lock.
type Scratch struct {
	Dir  string
	lock *os.File
}

// lockName is the file in it that its process holds locked.
const lockName = "lock"

// unlocked is how old a folder without a lock must be before it is taken for a dead one: its process may be about to make it.
const unlocked = time.Minute

// NewScratch makes a temporary folder in parent ("" is the system's), whose name begins with prefix, and removes those that dead
// processes have left there.
func NewScratch(parent, prefix string) (*Scratch, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	sweep(parent, prefix)
	dir, err := os.MkdirTemp(parent, prefix+"*")
	if err != nil {
		return nil, err
	}
	s := &Scratch{Dir: dir}
	if s.lock, err = os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	holdLock(s.lock)
	return s, nil
}

// Remove removes the folder with all that is in it.
func (s *Scratch) Remove() error {
	err := os.RemoveAll(s.Dir)
	s.lock.Close()
	return err
}

// sweep removes the folders that dead processes of this user have left. What it cannot remove it leaves.
func sweep(parent, prefix string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) && dead(filepath.Join(parent, e.Name()), e) {
			os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}

// dead reports whether a folder is ours and nobody holds its lock.
func dead(dir string, e os.DirEntry) bool {
	info, err := e.Info()
	if err != nil || !ownedByUs(info) {
		return false
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		return os.IsNotExist(err) && time.Since(info.ModTime()) > unlocked
	}
	defer lock.Close()
	return tryLock(lock)
}
