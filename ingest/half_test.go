package ingest

import (
	"testing"

	"mcpdiag/ingest/frame"
)

// An id comes back as it was told, and two ids are never one, wherever they are kept.
func TestIDs(t *testing.T) {
	a := newArena(nil)
	seen := map[idRef]string{}
	for _, test := range []struct {
		token string
		here  bool // in the half itself
	}{
		{"0", true}, {"1", true}, {"8", true}, {"999999999999999999", true}, {"1000000000000000000", false}, {"-1", false}, {"1.0", false}, {"00", false},
		{`""`, true}, {`"1"`, true}, {`" "`, true}, {`"\t"`, false}, {`"req-1001"`, true}, {`"req-1002"`, true}, {`"~~~~~~~~"`, true}, {`"req-10001"`, false},
		{`"é"`, false}, {"\"\x7f\"", false}, {`"\\"`, false}, {`"A"`, true}, {`"AA"`, true}, {"null", false},
	} {
		ref := a.intern(frame.ID(test.token))
		if got := string(a.token(ref, make([]byte, 0, 20))); got != test.token {
			t.Errorf("%s comes back as %s", test.token, got)
		}
		if here := ref&elsewhere == 0; here != test.here {
			t.Errorf("%s is kept in the half: %v", test.token, here)
		}
		if other, ok := seen[ref]; ok {
			t.Errorf("%s and %s are one", test.token, other)
		}
		seen[ref] = test.token
	}
}

// The ids that one peer counts fall into many slots, and not on top of each other.
func TestIDHash(t *testing.T) {
	a := newArena(nil)
	for _, form := range []func(i int) string{
		func(i int) string { return string(appendUint(nil, uint64(i))) },
		func(i int) string { return `"req-` + string(appendUint(nil, uint64(1000+i))) + `"` },
		func(i int) string { return `"` + string(appendUint(nil, uint64(1000+i))) + `-req"` },
	} {
		slots := map[uint64]int{}
		for i := range 1000 {
			ref, _ := packID(frame.ID(form(i)))
			slots[a.hash(frame.Client, ref, nil)&2047]++
		}
		if len(slots) < 600 { // of 1000 thrown at random 786 meet nobody or a first one
			t.Errorf("%s: 1000 ids fall into %d slots", form(0), len(slots))
		}
	}
}
