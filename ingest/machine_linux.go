package ingest

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MachineMemory is the memory of the machine in bytes, or of the container that the program runs in when that is less.
func MachineMemory() int64 {
	least := int64(math.MaxInt64 / 2)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		least = min(least, int64(info.Totalram)*int64(info.Unit))
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if n, errNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && errNumber == nil && n > 0 {
			least = min(least, n)
		}
	}
	return least
}
