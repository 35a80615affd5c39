package main

// trial is one fault, how it is provoked, where it is looked at, and what has to come out.
type trial struct {
	fault   string   // of the server; "client:" in front is the client's
	with    []string // what else is needed to provoke it, in the same words
	http    string   // the path of the server's endpoint; "" is stdio
	legacy  bool     // speak 2025-11-25: it needs a session, or a request of the server
	script  string   // of the client
	timeout string   // after which the client gives up
	client  string   // whose log is the client's: client, what it itself read, or tee, what crossed in front of it
	server  string   // and the server's
	join    []string // flags
	judged  string   // the tool or method of the call that is judged; "" is work

	leaf, cause string
	candidate   bool // the logs cannot prove the cause, and it has to be named as a candidate
}

// The two places at which a side is recorded: inside its own process, and at the wire by a tee or a proxy.
const (
	inside = "inside"
	wire   = "wire"
)

// trials is the table of the lab.
func trials() []trial {
	lines := []string{"client:lines"}
	mute := []string{"mute-cancelled"} // the SDK's server answers what was cancelled
	brief := []string{"--slow", "500ms"}
	return []trial{
		{fault: "stdout-noise", script: "echo; work; echo", client: inside, server: inside, leaf: "written_not_read", cause: "stdout_contamination"},
		{fault: "early-noise", script: "echo; work ms=300; echo", client: inside, server: inside, leaf: "never_written", cause: "stdout_contamination"},
		{fault: "glued", with: lines, script: "echo; work; echo", client: inside, server: inside, leaf: "written_not_read", cause: "stdout_contamination"},
		{fault: "glued", with: lines, script: "echo; work; echo", client: wire, server: inside, leaf: "written_not_read", cause: "stdout_contamination"},
		{fault: "pretty-print", with: lines, script: "echo; work; pause 100ms", client: inside, server: inside, leaf: "written_not_read", cause: "embedded_newline"},
		{fault: "interleaved", with: lines, script: "echo; work bytes=90 ms=200 & work bytes=30 ms=200 & pause 300ms; echo", client: inside, server: inside, leaf: "written_not_read", cause: "interleaved_frames"},
		{fault: "block-buffer", script: "echo; work; pause 500ms", timeout: "1500ms", client: wire, server: inside, leaf: "agent_level", cause: "buffering"},
		{fault: "client:line-ceiling=16384", script: "echo; work bytes=9000; work bytes=20000; work bytes=30000; echo", client: inside, server: inside, leaf: "written_not_read", cause: "max_line_length"},
		{fault: "client:line-ceiling=16384", script: "echo; work bytes=9000; work bytes=20000; work bytes=30000; echo", client: inside, server: wire, leaf: "written_not_read", cause: "max_line_length"},
		{fault: "client:reader-stopped", script: "echo; work; work; echo", client: inside, server: wire, leaf: "written_not_read", cause: "client_reader_stopped"},
		{fault: "drop-response", script: "echo; work; echo", client: wire, server: inside, leaf: "written_not_read", cause: "none_can_be_told"},

		{fault: "never-return", script: "echo; work; echo", client: wire, server: inside, leaf: "never_written", cause: "handler_blocked"},
		{fault: "exit", script: "echo; work; echo", client: wire, server: wire, leaf: "never_written", cause: "server_closed"},
		{fault: "serial", script: "echo; work & echo; pause 200ms", client: inside, server: inside, judged: "echo", leaf: "never_written", cause: "queued_behind"},
		{fault: "no-answer", script: "echo; work; echo", client: inside, server: inside, leaf: "never_written", cause: "none_can_be_told"},
		{fault: "mute-cancelled", script: "echo; work ms=5000; pause 300ms; echo", client: wire, server: inside, leaf: "never_written", cause: "cancelled_by_client"},
		{fault: "client:close-early", script: "echo; work ms=5000", client: wire, server: inside, leaf: "never_written", cause: "transport_closed_by_client"},
		{fault: "client:hang-sampling", with: mute, legacy: true, script: "echo; work sample=true; pause 200ms", client: wire, server: inside, leaf: "never_written", cause: "circular_wait"},
		{fault: "client:hang-sampling", with: mute, legacy: true, script: "echo; work sample=true & echo; pause 700ms", client: wire, server: inside, leaf: "never_written", cause: "reverse_request_unanswered"},
		{fault: "client:mute", with: mute, legacy: true, script: "echo; work sample=true; pause 200ms", client: wire, server: inside, leaf: "never_written", cause: "capability_not_served"},

		{fault: "stop-reading", script: "echo; work & echo", client: inside, server: inside, judged: "echo", leaf: "never_arrived", cause: "server_stopped_reading"},
		{fault: "client:garbled-request", with: []string{"lines"}, script: "echo; work; echo", client: inside, server: inside, leaf: "never_arrived", cause: "request_unparsed"},
		{fault: "client:garbled-request", with: []string{"lines"}, script: "echo; work; echo", client: inside, server: wire, leaf: "never_arrived", cause: "request_unparsed"},

		{fault: "string-ids", script: "echo; work", client: wire, server: wire, leaf: "never_written", cause: "id_type_mismatch"},
		{fault: "client:huge-ids", script: "echo; work; pause 100ms", client: wire, server: wire, leaf: "never_written", cause: "id_beyond_2_53"},
		{fault: "client:constant-id", script: "echo; work ms=300 & work ms=300", client: wire, server: wire, leaf: "cannot_tell", cause: "id_reused_in_flight"},
		{fault: "client:renumber", script: "echo text=a; work bytes=10; echo text=abc", client: inside, server: inside, leaf: "cannot_tell", cause: "ids_renumbered", candidate: true},

		{fault: "late answer", script: "echo; work ms=900 deaf=true; pause 1s; echo", timeout: "300ms", client: wire, server: inside, leaf: "agent_level", cause: "client_deadline"},
		{fault: "slow handler", script: "echo; work ms=700; echo", timeout: "5s", client: wire, server: inside, join: brief, leaf: "agent_level", cause: "slow_handler"},
		{fault: "slow-write", script: "echo; work; echo", timeout: "5s", client: wire, server: inside, join: brief, leaf: "agent_level", cause: "slow_write"},
		{fault: "client falls silent", script: "echo; work; pause 1200ms; echo", client: wire, server: wire, join: []string{"--quiet", "1s"}, leaf: "agent_level", cause: "agent_level"},

		{fault: "session-404", http: "/mcp", legacy: true, script: "echo; work; echo", client: wire, server: inside, leaf: "never_arrived", cause: "session_404"},
		{fault: "session-400", http: "/mcp", legacy: true, script: "echo; work; echo", client: wire, server: inside, leaf: "never_arrived", cause: "session_expired", candidate: true},
		{fault: "body-cap=1MiB", http: "/mcp", legacy: true, script: "echo; work text=@2000000; echo", client: wire, server: inside, leaf: "never_arrived", cause: "request_too_large"},
		{fault: "unparsed", http: "/mcp", script: "echo; work; echo", client: inside, server: inside, leaf: "never_arrived", cause: "request_unparsed"},
		{fault: "bad-gateway", http: "/mcp", script: "echo; work; echo", client: wire, server: inside, leaf: "never_arrived", cause: "refused"},
		{fault: "idle-cut=400ms", http: "/mcp", legacy: true, script: "echo; work ms=900; pause 1s; echo", client: wire, server: inside, leaf: "written_not_read", cause: "sse_dropped"},
		{fault: "idle-cut=400ms", http: "/sdk", legacy: true, script: "echo; work ms=900; pause 1s; echo", client: inside, server: inside, leaf: "written_not_read", cause: "refused"}, // no head was sent before the cut: the proxies say 502
		{fault: "drop-response", http: "/mcp", legacy: true, script: "echo; work; echo", client: wire, server: inside, leaf: "written_not_read", cause: "none_can_be_told"},
		{fault: "never-return", http: "/mcp", legacy: true, script: "echo; work; echo", client: wire, server: inside, leaf: "never_written", cause: "handler_blocked"},
		{fault: "no-flush", http: "/sdk", legacy: true, script: "echo; work ms=1500 steps=5", timeout: "5s", client: wire, server: inside, join: brief, leaf: "agent_level", cause: "proxy_buffering"},
	}
}
