package frame

import "encoding/json"

// instantJSON is how an instant is kept: what it reads, and on which of its log's clocks. Which log that is, its keeper knows.
type instantJSON struct {
	Sec      int64  `json:"sec,omitempty"`
	NSec     int32  `json:"nsec,omitempty"`
	Wall     bool   `json:"wall,omitempty"`
	Zoneless bool   `json:"zoneless,omitempty"`
	MonoNS   *int64 `json:"mono_ns,omitempty"`
	Clock    uint32 `json:"clock,omitempty"`
}

// MarshalJSON writes the readings; null when there is none.
func (t Instant) MarshalJSON() ([]byte, error) {
	if !t.Known() {
		return []byte("null"), nil
	}
	j := instantJSON{Sec: t.sec, NSec: t.nsec, Wall: t.HasWall(), Zoneless: t.Zoneless(), Clock: t.is.clock()}
	if t.HasMono() {
		j.MonoNS = &t.mono
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote. The instant is of no log until OfLog says which.
func (t *Instant) UnmarshalJSON(b []byte) error {
	var j *instantJSON
	if err := json.Unmarshal(b, &j); err != nil || j == nil {
		*t = Instant{}
		return err
	}
	*t = Instant{is: instantTag(0).on(0, j.Clock)}
	if j.Wall {
		t.Wall(j.Sec, j.NSec, !j.Zoneless)
	}
	if j.MonoNS != nil {
		t.Mono(*j.MonoNS)
	}
	return nil
}

// OfLog says which log the readings are of, and leaves the clock as it is.
func (t *Instant) OfLog(log uint16) { t.is = t.is.on(log, t.is.clock()) }
