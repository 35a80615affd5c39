package tap

import "mcpdiag/ingest/frame"

// Side is whose log the recorder writes.
func (r *Recorder) Side() frame.Side { return r.o.Side }
