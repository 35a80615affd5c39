package frame

import "golang.org/x/sys/cpu"

// blocks reports whether blockMasks and plainBlocks may be called here: the processor has AVX2.
var blocks = cpu.X86.HasAVX2

// blockMasks marks the quotes, the backslashes and the control characters among 64 bytes, a bit each, the first byte's lowest.
//
//go:noescape
func blockMasks(b *[64]byte) (quote, slash, control uint64)

// plainBlocks counts the blocks, of n that follow each other from b on, before the first that blockMasks would mark a byte of.
//
//go:noescape
func plainBlocks(b *[64]byte, n int) int
