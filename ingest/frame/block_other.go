//go:build !amd64

package frame

// blocks says that there is no blockMasks here.
const blocks = false

func blockMasks(*[64]byte) (quote, slash, control uint64) { panic("no blocks") }
