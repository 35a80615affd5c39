//go:build unix

package tap

import (
	"os"
	"syscall"
)

// removed reports whether an open file has no name left.
func removed(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
