// Package tap records what crosses a vantage while it crosses: live recorders that write frame log v1.
//
// The rule of the room: observing never blocks and never changes a byte. A Recorder takes events from any number of
// goroutines into a bounded queue and writes them in a goroutine of its own; what does not fit is counted and becomes a `gap`
// record. A log that cannot be opened or written, a full disk, a log removed under it: traffic goes on, one line says so on
// stderr, and what was lost is counted. Metadata only, unless a Payload policy asks for more. Ids and kinds are taken from the
// whole message before anything is cut.
//
//	rec, err := tap.Open(tap.Options{Side: frame.Server, Log: "server.log"})
//	defer rec.Close()
//	rec.Record(&tap.Event{Frame: f, Payload: message}) // from any goroutine; never blocks
//
// Tee runs a stdio server with a Recorder between it and its client. Decode and Framer turn bytes into events for whoever
// forwards them otherwise.
//
// HTTP is the same for Streamable HTTP: as middleware of a server, as the RoundTripper of a client, and as the reverse proxy
// between two. A copy of each body is read beside the traffic, up to a bound; the traffic waits for nothing. The sub-packages
// gosdk and mcpgo add what only the inside of a program on those SDKs can see: when a handler was entered and left.
//
// The package knows the frame and nothing else: no DuckDB, no command line.
package tap
