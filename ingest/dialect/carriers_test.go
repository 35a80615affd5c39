package dialect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// wraps are ways in which a line comes to stand in another program's output.
var wraps = map[string]func(n int, line string) string{
	"terminal colours": func(_ int, line string) string { return "\x1b[2m" + line[:4] + "\x1b[0m" + line[4:] + "\x1b[0m" },
	"docker compose":   func(_ int, line string) string { return "tide-server-1  | " + line },
	"stern": func(n int, line string) string {
		return fmt.Sprintf("tide-7d9c6b5f44-aaaaa server 2026-05-01T10:00:%02d.123456789Z %s", n, line)
	},
	"kubectl --prefix": func(_ int, line string) string { return "[pod/tide-7d9c6b5f44-aaaaa/server] " + line },
	"journald":         func(n int, line string) string { return fmt.Sprintf("May 01 10:00:%02d host tide[4410]: %s", n, line) },
	"short-iso": func(n int, line string) string {
		return fmt.Sprintf("2026-05-01T10:00:%02d+0100 host tide[4410]: %s", n, line)
	},
	"docker -t": func(n int, line string) string { return fmt.Sprintf("2026-05-01T10:00:%02d.123456789Z %s", n, line) },
	"containerd": func(n int, line string) string {
		return fmt.Sprintf("2026-05-01T10:00:%02d.123456789Z stdout F %s", n, line)
	},
	"Markdown quote": func(_ int, line string) string { return "> " + line },
	"two of them": func(n int, line string) string {
		return fmt.Sprintf("> tide-1 | 2026-05-01T10:00:%02d.500000000Z %s", n, line)
	},
	"CRLF": func(_ int, line string) string { return line + "\r" },
}

// A log reads the same whatever stands around its lines, and one without times has the carrier's.
func TestCarriers(t *testing.T) {
	for _, name := range []string{"go_sdk_logging_transport.server", "claude_desktop_delivered_agent_timeout", "vscode_debug_frames", "mcp_go_slog_text",
		"csharp_trace", "rmcp_tracing", "supergateway_sse", "python_sdk_sse_debug_dual", "mcpsnoop_jsonl", "tee_mcp", "spring_ai_debug"} {
		log := string(formatSample(t, name+".log"))
		want := told(brief(readWhole(byName(t, formats[name]), []byte(log)).Frames))
		for what, wrap := range wraps {
			var carried strings.Builder
			carried.WriteString("```\n")
			for n, line := range strings.Split(strings.TrimSuffix(log, "\n"), "\n") {
				if len(line) < 5 {
					line += "     "
				}
				carried.WriteString(wrap(n%60, line) + "\n")
			}
			carried.WriteString("```\n")
			d := Detect([]byte(carried.String()), nil)
			b := readWhole(d, []byte(carried.String()))
			if got := told(brief(b.Frames)); d.Name != formats[name] || got != want {
				t.Errorf("%s behind %s is %s:\n%s\nwant\n%s", name, what, d.Name, got, want)
			}
			if what == "docker -t" && strings.HasPrefix(name, "go_sdk") && !b.Frames[0].At.HasWall() {
				t.Error("the carrier's time is lost")
			}
			if what == "docker compose" && string(b.Frames[0].Extra().Conn) == "" && len(b.Frames[0].Session) == 0 {
				t.Errorf("%s: the carrier's name is lost", name)
			}
		}
	}
}

// A native log behind a carrier is a native log; one without pays nothing, not even a look.
func TestCarriedNative(t *testing.T) {
	const record = `{"side":"client","dir":"c2s","kind":"request","id":1,"method":"ping"}` + "\n"
	d := Detect([]byte(strings.Repeat("tide-1  | "+record, 3)), nil)
	if b := readWhole(d, []byte(strings.Repeat("tide-1  | "+record, 3))); d.Name != "native" || len(b.Frames) != 3 || len(b.Bad) > 0 {
		t.Errorf("%s: %d frames, %v", d.Name, len(b.Frames), b.Bad)
	}
	if _, ok := Detect([]byte(record), nil).New().(*nativeReader); !ok {
		t.Error("a plain native log is read through something")
	}
}

// Lines that only look like they had a carrier stay whole.
func TestNoCarrier(t *testing.T) {
	for _, line := range []string{"", "x", "|", "a|b", ">x", "[pod/x", "==> x", "2026-05-01T10:00:00Z", "Mar 02 09:41:03 host", "{\"a\":1} | x", "2026-05-01 10:00:00.123 [info] x"} {
		var c carried
		if rest, _ := peelOnce([]byte(line), &c); rest != nil {
			t.Errorf("%q: %q is left", line, rest)
		}
	}
}

// A message printed over several lines is one message; what only begins like one is so many lines.
func TestPrettyMessages(t *testing.T) {
	const log = `[2026-05-01T10:00:00Z] to server: {
  "jsonrpc": "2.0",
  "id": 7,
  "method": "tools/call",
  "params": {
    "name": "sail"
  }
}
function f() {
  return 1
}
{"jsonrpc":"2.0","id":7,"result":{}}
class X {
{"jsonrpc":"2.0","method":"notifications/message"}
{
  "jsonrpc": "2.0",
`
	want := "c2s req 7 tools/call\ns2c res 7 -\ns2c ntf - notifications/message"
	for _, spans := range [][][]byte{{[]byte(log)}, bytes.SplitAfter([]byte(log), []byte{'\n'})} {
		b := readWhole(byName(t, "wire"), spans...)
		if got := strings.Join(brief(b.Frames), "\n"); got != want {
			t.Errorf("got\n%s", got)
		}
		if f := b.Frames[0]; f.Line != 1 || !f.At.HasWall() || string(f.Name) != "sail" {
			t.Errorf("line %d, %+v", f.Line, f)
		}
		var lines []uint32
		for _, bad := range b.Bad {
			lines = append(lines, bad.Line)
		}
		if got := fmt.Sprint(lines); got != "[9 10 11 13 15 16]" {
			t.Errorf("bad lines %s", got)
		}
	}
}

// inspected makes JSON of what Node prints.
func TestInspected(t *testing.T) {
	for text, want := range map[string]string{
		`{ jsonrpc: '2.0', id: 2, result: { content: [ [Object] ], isError: false } }`: `{ "jsonrpc": "2.0", "id": 2, "result": { "content": [ null ], "isError": false } }`,
		"{ a: 'it\\'s \"x\"', 'b-c': undefined, d: -1.5e3 }":                           `{ "a": "it's \"x\"", "b-c": null, "d": -1.5e3 }`,
		"{ list: [ 1, 2, ... 98 more items ] }":                                        `{ "list": [ 1, 2, null] }`,
		"{ s: 'a\\n' +\n    'b' }":                                                     `{ "s": "a\nb" }`,
		"{ s: `a\nb`, f: [Function: x] }":                                              `{ "s": "a b", "f": null }`,
	} {
		if got := string(inspected([]byte(text))); got != want {
			t.Errorf("%s\ngives %s\nwant  %s", text, got, want)
		}
	}
}
