package ingest

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"mcpdiag/ingest/frame"
)

// table finds the latest half of (requester, id) within a stretch: open addressing, the hash beside the number of the half, for the
// halves and their ids lie far apart, and each of a million calls passes here six times. They are hashed with a seed of the log, so none
// can be written to make them collide.
//
// Most sessions count from 0 or 1 and end early: ids below denseIDs have an array for each requester instead.
type table struct {
	dense [2][]uint32 // half+1; 0 is unused
	slots []slot      // empty where free
	used  int
}

// slot is a half's number+1, and above it 32 bits of its hash.
type slot uint64

func newSlot(hash uint64, half uint32) slot { return slot(hash)<<32 | slot(half+1) }

func (s slot) hash() uint32 { return uint32(s >> 32) }
func (s slot) half() uint32 { return uint32(s) - 1 }

// denseIDs bounds the arrays: a log of very many sessions must not pay more than this for each.
const denseIDs = 1024

func dense(ref idRef) bool { return ref < denseIDs }

func (a *arena) hash(by frame.Side, ref idRef, token frame.ID) uint64 {
	if ref&elsewhere != 0 {
		return maphash.Bytes(a.seed, token) ^ uint64(by)
	}
	high, low := bits.Mul64(uint64(ref)<<1|uint64(by&1)^a.salt, 0x9E3779B97F4A7C15)
	return high ^ low ^ low>>32 // every bit of the id has its say in the lowest ones
}

func (a *arena) sameID(h *Half, by frame.Side, ref idRef, token frame.ID) bool {
	if h.By != by || (h.id^ref)&elsewhere != 0 {
		return false
	}
	if ref&elsewhere == 0 {
		return h.id == ref
	}
	return bytes.Equal(a.token(h.id, nil), token)
}

// find returns the latest half with this id. Long ids are compared by token, so ref's place in an arena does not matter.
func (t *table) find(a *arena, by frame.Side, ref idRef, token frame.ID) (uint32, bool) {
	if dense(ref) {
		if d := t.dense[by-frame.Client]; int(ref) < len(d) && d[ref] != 0 {
			return d[ref] - 1, true
		}
		return 0, false
	}
	if len(t.slots) == 0 {
		return 0, false
	}
	hash := a.hash(by, ref, token)
	mask := uint32(len(t.slots) - 1)
	for k := uint32(hash) & mask; t.slots[k] != 0; k = (k + 1) & mask {
		if s := t.slots[k]; s.hash() == uint32(hash) && a.sameID(a.at(s.half()), by, ref, token) {
			return s.half(), true
		}
	}
	return 0, false
}

// put makes half i the latest of its id.
func (t *table) put(a *arena, i uint32) {
	h := a.at(i)
	if dense(h.id) {
		t.putDense(h.By, h.id, i)
		return
	}
	if t.used*4 >= len(t.slots)*3 {
		t.grow()
	}
	token := a.token(h.id, make([]byte, 0, 20))
	hash := a.hash(h.By, h.id, token)
	mask := uint32(len(t.slots) - 1)
	k := uint32(hash) & mask
	for ; t.slots[k] != 0; k = (k + 1) & mask {
		if s := t.slots[k]; s.hash() == uint32(hash) && a.sameID(a.at(s.half()), h.By, h.id, token) {
			t.slots[k] = newSlot(hash, i)
			return
		}
	}
	t.slots[k] = newSlot(hash, i)
	t.used++
}

func (t *table) putDense(by frame.Side, ref idRef, i uint32) {
	d := &t.dense[by-frame.Client]
	if n := int(ref) + 1; n > len(*d) {
		*d = append(*d, make([]uint32, min(n+31, denseIDs)-len(*d))...)
	}
	(*d)[ref] = i + 1
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, max(16, 2*len(old)))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		k := s.hash() & mask
		for t.slots[k] != 0 {
			k = (k + 1) & mask
		}
		t.slots[k] = s
	}
}
