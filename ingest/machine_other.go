//go:build !linux

package ingest

// MachineMemory is the memory of the machine in bytes, where it can be told; here it is taken for what a small one has.
func MachineMemory() int64 { return 8 << 30 }
