//go:build unix

package ingest

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// holdLock locks the file for as long as the process lives.
func holdLock(f *os.File) { unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// tryLock reports whether nobody holds the lock.
func tryLock(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

func ownedByUs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
