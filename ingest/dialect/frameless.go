package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// frameless are logs that people bring and that hold no frames: what one can do is say which knob to turn.
func frameless() []*Dialect {
	var rows []*Dialect
	for _, k := range []struct {
		name, writer string
		words        []string
		knob         string
	}{
		{"codex", "Codex CLI", []string{"tool call error: tool call failed for `", "tool call error: tool call failed for '", "codex_core::", "codex_mcp_client"},
			"Codex logs no frames: run it with RUST_LOG=rmcp=debug, or put mcpdiag tee in front of the server in config.toml"},
		{"gemini-cli", "Gemini CLI", []string{"[MCP STDERR (", "[DEBUG] [MCP"},
			"Gemini CLI logs its server's stderr and no frames: put mcpdiag tee in front of the server's command in settings.json"},
		{"windsurf", "Windsurf", []string{"/exa.language_server_pb", "interceptor.go:"},
			"Windsurf logs no frames: put mcpdiag tee in front of the server's command in mcp_config.json"},
		{"cline", "Cline, Roo, Kilo", []string{"[McpHub]", "Failed to connect to new MCP server", "Error fetching tools for "},
			"Cline logs errors and its server's stderr, no frames: put mcpdiag tee in front of the server's command in cline_mcp_settings.json"},
		{"inspector-v1", "MCP Inspector v1, proxy console", []string{"Received POST message for sessionId", "Received GET message for sessionId", "New StreamableHttp connection request",
			"Created StreamableHttp client transport", "Created server transport", "Error from MCP server: ", "Client <-> Proxy  sessionId", "Proxy  <-> Server sessionId"},
			"Inspector v1 logs no frames: export the protocol tab of Inspector v2, or put mcpdiag tee in front of the server"},
	} {
		rows = append(rows, &Dialect{
			Name: k.name, Writer: k.writer, Vantage: "no frames", Knob: k.knob, Side: frame.Client, Ordered: true, Carried: true, Source: fromDescription,
			Sees:   0,
			Match:  prose(func(line []byte) bool { return containsAny(line, k.words) }),
			Weight: func([]byte) int { return 1 },
			New:    text(func() grammar { return wordless{} }),
		})
	}
	return rows
}

func containsAny(line []byte, words []string) bool {
	for _, w := range words {
		if bytes.Contains(line, []byte(w)) {
			return true
		}
	}
	return false
}

// wordless reads a log without frames. That a transport could not parse what the server wrote is all that it may tell.
type wordless struct{}

func (wordless) line(r *textReader, line []byte) {
	if bytes.Contains(line, []byte("Error from MCP server: ")) && isUnparsed(string(line)) {
		r.noise(quotedIn(string(line)), r.blank(), frame.S2C)
	}
}
