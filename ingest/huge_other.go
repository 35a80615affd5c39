//go:build !linux

package ingest

// hugePages is for kernels that take the hint.
func hugePages[T any]([]T) {}
