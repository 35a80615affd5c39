//go:build !amd64

package frame

// blocks says that there are no blockMasks and plainBlocks here.
const blocks = false

func blockMasks(*[64]byte) (quote, slash, control uint64) { panic("no blocks") }

func plainBlocks(*[64]byte, int) int { panic("no blocks") }
