package tapcmd

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// recordFlags say what is recorded and where to. Every recorder has them.
type recordFlags struct {
	log, logDir string
	side        string
	payload     string
	sample      float64
	onlySession string
	redact      []string
	stallAfter  time.Duration
}

func (f *recordFlags) register(c *cobra.Command, side frame.Side) {
	flags := c.Flags()
	flags.StringVar(&f.log, "log", "", "append the records to `FILE` (created with mode 0600); without it and --log-dir they go to stderr")
	flags.StringVar(&f.logDir, "log-dir", "", "write a new file in `DIR` at each start; its name carries the side, the start time and the process id")
	flags.StringVar(&f.side, "side", side.String(), "whose log this is: client, server or proxy")
	flags.StringVar(&f.payload, "payload", "none", "how much of each message to record: none, a number of bytes, or full")
	flags.Float64Var(&f.sample, "sample", 1, "share of the calls whose payload is recorded, 0 to 1")
	flags.StringVar(&f.onlySession, "only-session", "", "record payloads of the session `NAME` only (on stdio: the process id)")
	flags.StringSliceVar(&f.redact, "redact", nil, "`KEYS` whose values stay out of payloads, at any depth, in any case")
	flags.DurationVar(&f.stallAfter, "stall-after", 0, "say on stderr when a request has waited this long for its answer")
	c.MarkFlagsMutuallyExclusive("log", "log-dir")
}

// options makes the recorder's options, or refuses.
func (f *recordFlags) options(e *Env) (tap.Options, error) {
	side, ok := frame.ParseSide([]byte(f.side))
	if !ok {
		return tap.Options{}, &UsageError{fmt.Sprintf("--side %q is no side", f.side), "it is client, server or proxy"}
	}
	payload, err := tap.ParsePayload(f.payload)
	if err != nil {
		return tap.Options{}, &UsageError{"--payload: " + err.Error(), "--payload 4096 records the first 4,096 bytes of each message"}
	}
	if f.sample < 0 || f.sample > 1 {
		return tap.Options{}, &UsageError{fmt.Sprintf("--sample %v is not between 0 and 1", f.sample), "--sample 0.01 records the payload of one call in a hundred"}
	}
	if f.sample == 0 {
		payload = 0
	}
	if f.stallAfter < 0 {
		return tap.Options{}, &UsageError{"--stall-after is negative", "--stall-after 30s is what people wait"}
	}
	if err := f.refuseTraffic(e); err != nil {
		return tap.Options{}, err
	}
	return tap.Options{Program: e.Program, Side: side, Log: f.log, LogDir: f.logDir, Stderr: e.Stderr, Payload: payload, Sample: f.sample,
		OnlySession: f.onlySession, Redact: f.redact, StallAfter: f.stallAfter}, nil
}

// refuseTraffic refuses a log that is also the input or the output: the records would be traffic.
func (f *recordFlags) refuseTraffic(e *Env) error {
	log, err := os.Stat(f.log)
	if f.log == "" || err != nil {
		return nil
	}
	for name, stream := range map[string]any{"standard input": e.Stdin, "standard output": e.Stdout} {
		file, ok := stream.(*os.File)
		if !ok {
			continue
		}
		if info, err := file.Stat(); err == nil && log.Mode().IsRegular() && os.SameFile(log, info) {
			return &UsageError{frame.Escape(f.log) + " is also " + name, "give the log a file of its own"}
		}
	}
	return nil
}
