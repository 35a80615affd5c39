package ingest

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePages asks the kernel for large pages under a slab: a million halves are walked at random, and small pages cost more
// than the walk. It is a hint; a kernel that refuses changes nothing.
func hugePages[T any](slab []T) {
	if slab == nil {
		return
	}
	size := uintptr(len(slab)) * unsafe.Sizeof(slab[0])
	start := uintptr(unsafe.Pointer(&slab[0]))
	page := uintptr(unix.Getpagesize())
	skip := (page - start%page) % page
	if size > skip+page {
		length := (size - skip) / page * page
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&slab[0]), skip)), length), unix.MADV_HUGEPAGE)
	}
}
