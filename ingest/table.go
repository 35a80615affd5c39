package ingest

import (
	"bytes"
	"hash/maphash"

	"mcpdiag/ingest/frame"
)

// table finds the latest half of (requester, id) within a stretch: open addressing over the halves themselves, four bytes a
// slot, since each of a million calls passes here six times. Long ids are hashed with a seed of the process, so no log can
// be written to make them collide.
type table struct {
	slots []uint32 // half+1; 0 is free
	used  int
}

func (a *arena) hash(by frame.Side, ref idRef, token frame.ID) uint64 {
	if ref&elsewhere != 0 {
		return maphash.Bytes(a.seed, token) ^ uint64(by)
	}
	h := (uint64(ref)<<1 | uint64(by&1)) * 0x9E3779B97F4A7C15
	return h ^ h>>32
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
	if len(t.slots) == 0 {
		return 0, false
	}
	i, free := t.slot(a, by, ref, token)
	return i, !free
}

func (t *table) slot(a *arena, by frame.Side, ref idRef, token frame.ID) (at uint32, free bool) {
	mask := uint64(len(t.slots) - 1)
	for k := a.hash(by, ref, token) & mask; ; k = (k + 1) & mask {
		n := t.slots[k]
		if n == 0 {
			return uint32(k), true
		}
		if a.sameID(a.at(n-1), by, ref, token) {
			return n - 1, false
		}
	}
}

// put makes half i the latest of its id.
func (t *table) put(a *arena, i uint32) {
	if t.used*4 >= len(t.slots)*3 {
		t.grow(a)
	}
	h := a.at(i)
	token := a.token(h.id, make([]byte, 0, 20))
	mask := uint64(len(t.slots) - 1)
	k := a.hash(h.By, h.id, token) & mask
	for ; t.slots[k] != 0; k = (k + 1) & mask {
		if a.sameID(a.at(t.slots[k]-1), h.By, h.id, token) {
			t.slots[k] = i + 1
			return
		}
	}
	t.slots[k] = i + 1
	t.used++
}

func (t *table) grow(a *arena) {
	old := t.slots
	t.slots = make([]uint32, max(16, 2*len(old)))
	mask := uint64(len(t.slots) - 1)
	room := make([]byte, 0, 20)
	for _, n := range old {
		if n == 0 {
			continue
		}
		h := a.at(n - 1)
		k := a.hash(h.By, h.id, a.token(h.id, room)) & mask
		for t.slots[k] != 0 {
			k = (k + 1) & mask
		}
		t.slots[k] = n
	}
}
