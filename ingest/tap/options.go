package tap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"mcpdiag/ingest/frame"
)

// Options say what is recorded and where to.
type Options struct {
	Program string     // that complains on Stderr; "" is mcpdiag
	Side    frame.Side // whose log this is; required

	Log    string    // file to append to, created with mode 0600
	LogDir string    // or folder to start a file in: its name carries the side, the start time and PID
	Stderr io.Writer // complaints, and the records themselves without Log and LogDir; nil: none
	PID    int       // of the process that the records are about; 0: this one

	Payload     Payload
	Sample      float64  // share of calls whose payload is recorded, 0 to 1; 0 is 1: all
	OnlySession string   // record the payload of this session only; it may name a PID
	Redact      []string // object keys whose values do not go into a payload, at any depth, in any case

	StallAfter time.Duration // say on Stderr that a request has waited this long; 0: do not
	QueueBytes int           // records held until the log takes them; 0 is 4 MiB
}

// Payload is how many bytes of a message are recorded: 0 none, Full all.
type Payload int64

// Full records whole messages.
const Full Payload = -1

// ParsePayload reads none, full or a number of bytes.
func ParsePayload(s string) (Payload, error) {
	switch s {
	case "none", "":
		return 0, nil
	case "full":
		return Full, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("payload %q is none of none, full and a number of bytes", s)
	}
	return Payload(n), nil
}

const defaultQueue = 4 << 20

// check refuses options that contradict themselves, and fills in what was left out.
func (o *Options) check() error {
	switch {
	case o.Side == frame.NoSide:
		return errors.New("the side of the log is not set")
	case o.Log != "" && o.LogDir != "":
		return errors.New("a log file and a log folder exclude each other")
	case o.Sample < 0 || o.Sample > 1:
		return fmt.Errorf("sample %v is not between 0 and 1", o.Sample)
	}
	if o.Program == "" {
		o.Program = "mcpdiag"
	}
	switch o.Stderr.(type) {
	case nil:
		o.Stderr = io.Discard
	case *os.File:
	default:
		o.Stderr = &oneAtATime{w: o.Stderr}
	}
	if o.QueueBytes == 0 {
		o.QueueBytes = defaultQueue
	}
	return nil
}

// oneAtATime is a writer that several goroutines may use, as they may an os.File.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneAtATime) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}
