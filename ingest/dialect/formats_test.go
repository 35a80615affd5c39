package dialect

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcpdiag/ingest/frame"
)

// formats are the samples of testdata/formats and the dialects that they are of. Each has its right reading beside it.
var formats = map[string]string{
	"agentgateway_logfmt": "agentgateway", "claude_code_array": "claude-code", "claude_code_debug_text": "claude-code-debug",
	"claude_code_mcp_logs_jsonl": "claude-code", "claude_desktop_delivered_agent_timeout": "claude-desktop-meta",
	"claude_desktop_duplicate_sessions": "claude-desktop", "claude_desktop_init_timeout": "claude-desktop",
	"claude_desktop_mcp_remote_interleaved": "claude-desktop", "claude_desktop_mcplog_late_error": "claude-desktop",
	"claude_desktop_metadata_only": "claude-desktop-meta", "claude_desktop_python_rich_traceback": "claude-desktop",
	"claude_desktop_tail_both_files": "claude-desktop", "cline_frameless": "cline", "codex_frameless": "codex", "csharp_trace": "csharp",
	"cursor_calltool": "cursor", "cursor_rich_stderr": "cursor", "docker_mcp_gateway": "docker-gateway", "envoy_ai_gateway_access": "envoy-ai-gateway",
	"fastmcp_middleware": "fastmcp", "gemini_cli_frameless": "gemini-cli", "go_sdk_logging_transport.client": "go-sdk",
	"go_sdk_logging_transport.server": "go-sdk", "goose_rust_debug": "goose", "har_browser": "har", "inspector_v1_proxy": "inspector-v1",
	"inspector_v2_export": "inspector", "jetbrains_ai_assistant": "jetbrains", "librechat_new_meta": "librechat-meta",
	"librechat_old_json": "librechat", "lsp_json": "lsp-json", "lsp_trace": "lsp-trace", "mcp_go_slog_json": "mcp-go-json",
	"mcp_go_slog_text": "mcp-go", "mcp_remote_debug": "mcp-remote-debug", "mcp_remote_stderr": "mcp-remote", "mcp_trace_jsonl": "mcp-trace",
	"mcpsnoop_jsonl": "mcpsnoop", "mcpspy_jsonl": "mcpspy", "mcptap_jsonl": "mcptap", "nginx_json": "nginx-json",
	"python_sdk_sse_debug_dual": "python-sdk", "rmcp_info": "rmcp-info", "rmcp_tracing": "rmcp", "spring_ai_debug": "java-sdk", "supergateway_sse": "supergateway",
	"tee_mcp": "tee-mcp", "tee_mcp_ts_key_order": "tee-mcp", "text_trace": "text-trace", "vscode_client_says": "vscode",
	"vscode_debug_frames": "vscode", "vscode_initialize_wait_parse_failure": "vscode", "windsurf_frameless": "windsurf", "zed_context_server": "zed",
}

func formatSample(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", "formats", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readWhole reads a log to its end.
func readWhole(d *Dialect, spans ...[]byte) *Batch {
	r, whole := d.New(), new(Batch)
	for _, span := range spans {
		b := new(Batch)
		r.Read(bytes.Clone(span), b)
		gather(whole, b)
	}
	if f, ok := r.(Finisher); ok {
		b := new(Batch)
		f.Finish(b)
		gather(whole, b)
	}
	return whole
}

func gather(whole, b *Batch) {
	for _, f := range b.Frames {
		f.Line += whole.Lines
		whole.Frames = append(whole.Frames, f)
	}
	for _, bad := range b.Bad {
		bad.Line += whole.Lines
		whole.Bad = append(whole.Bad, bad)
	}
	whole.Lines += b.Lines
}

// brief tells the frames as `mcpdiag frames --format brief` does.
func brief(frames []frame.Frame) []string {
	sides := map[frame.Side]bool{}
	for i := range frames {
		sides[frames[i].Side] = true
	}
	delete(sides, frame.NoSide)
	var out []string
	for i := range frames {
		out = append(out, strings.TrimSuffix(string(frame.AppendBrief(nil, &frames[i], len(sides) > 1)), "\n"))
	}
	return out
}

// told keeps what a right reading and a brief one must have in common: every message, and every call of a log without ids.
func told(lines []string) string {
	common := regexp.MustCompile(`(^| )(req|res|err|ntf) |^call (start|ok|fail) |^exch \S+ \d+$`)
	var out []string
	for _, line := range lines {
		if common.MatchString(line) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func TestFormats(t *testing.T) {
	for name, want := range formats {
		t.Run(name, func(t *testing.T) {
			log := formatSample(t, name+".log")
			for _, d := range []*Dialect{Detect(log, nil), Detect(nil, log)} {
				if d.Name != want && d.Whole == nil && byName(t, want).Whole == nil {
					t.Errorf("taken for %s, not %s", d.Name, want)
				}
			}
			b := readWhole(Detect(log, nil), log)
			_, block, _ := strings.Cut(string(formatSample(t, name+".md")), "```frames\n")
			block, _, ok := strings.Cut(block, "```")
			if got, want := told(brief(b.Frames)), told(strings.Split(block, "\n")); !ok || got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if lines := bytes.Count(log, []byte{'\n'}); int(b.Lines) != lines {
				t.Errorf("%d lines, want %d", b.Lines, lines)
			}
			for _, f := range b.Frames {
				if f.Line == 0 || f.Line > b.Lines {
					t.Errorf("a frame on line %d of %d", f.Line, b.Lines)
				}
			}
		})
	}
}

// Every sample is in the table of samples, and every dialect that is no engine for others has a sample.
func TestEveryDialectHasASample(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "formats", "*.log"))
	if err != nil || len(files) != len(formats) {
		t.Errorf("%d samples, %d in the table (%v)", len(files), len(formats), err)
	}
	sampled := map[string]bool{"native": true, "jsonl": true, "wire": true}
	for _, d := range formats {
		sampled[d] = true
	}
	for _, d := range Table() {
		if !sampled[d.Name] {
			t.Errorf("%s has no sample", d.Name)
		}
		if d.Writer == "" || d.Vantage == "" || d.Match == nil || d.New == nil {
			t.Errorf("%s lacks a column", d.Name)
		}
	}
}

// The spans that the ingest cuts must not show.
func TestFormatsBySpan(t *testing.T) {
	for name, d := range formats {
		log := formatSample(t, name+".log")
		lines := bytes.SplitAfter(log, []byte{'\n'})
		whole, byLine := readWhole(byName(t, d), log), readWhole(byName(t, d), lines...)
		if a, b := sayFrames(whole), sayFrames(byLine); a != b || whole.Lines != byLine.Lines {
			t.Errorf("%s by line:\n%s\nwhole:\n%s", name, b, a)
		}
	}
}

func sayFrames(b *Batch) string {
	var out []byte
	for i := range b.Frames {
		f := b.Frames[i]
		f.At = frame.Instant{} // a copy on the next line may tell the time more finely
		out = append(append(out, string(rune('0'+f.Line%10))...), frame.AppendNative(nil, &f)...)
	}
	return string(out)
}

// What a log says up to a place does not change when it goes on: the messages read from a log that is cut anywhere are the
// first of the whole log's.
func TestFormatsCutAnywhere(t *testing.T) {
	for name, dialect := range formats {
		d := byName(t, dialect)
		if d.Whole != nil || dialect == "tee-mcp" || dialect == "text-trace" { // a document is read whole; those two cut frames themselves
			continue
		}
		log := formatSample(t, name+".log")
		whole := told(brief(readWhole(d, log).Frames)) + "\n"
		for n := range len(log) {
			part := told(brief(readWhole(d, log[:n]).Frames))
			if part != "" && !strings.HasPrefix(whole, part+"\n") {
				t.Errorf("%s cut at %d says\n%s\nwhole it says\n%s", name, n, part, whole)
				break
			}
		}
	}
}

// Any dialect reads any log, cut anywhere, without a word too many.
func TestFormatsReadAnything(t *testing.T) {
	table := Table()
	for name := range formats {
		log := formatSample(t, name+".log")
		for _, d := range table {
			for n := 0; n < len(log); n += 1 + len(log)/7 {
				if b := readWhole(d, log[:n], log[n:]); len(b.Frames) > 0 && b.Lines == 0 {
					t.Errorf("%s as %s", name, d.Name)
				}
			}
		}
	}
}

// Two dialects in one file: the host's is taken, and every frame of its own is read.
func TestFormatsMixed(t *testing.T) {
	host := []string{"claude_desktop_init_timeout", "claude_desktop_metadata_only", "vscode_debug_frames", "jetbrains_ai_assistant"}
	guest := []string{"csharp_trace", "rmcp_tracing", "python_sdk_sse_debug_dual", "go_sdk_logging_transport.server"}
	for _, h := range host {
		for _, g := range guest {
			a, b := formatSample(t, h+".log"), formatSample(t, g+".log")
			mixed := append(append(bytes.Clone(a), b...), a...)
			d := Detect(mixed, mixed)
			if d.Name != formats[h] {
				t.Errorf("%s with %s is taken for %s", h, g, d.Name)
				continue
			}
			frames := told(brief(readWhole(d, mixed).Frames))
			alone := told(brief(readWhole(d, a).Frames))
			if !strings.HasPrefix(frames, alone) || !strings.HasSuffix(frames, alone) {
				t.Errorf("%s with %s reads\n%s", h, g, frames)
			}
		}
	}
}

// FuzzFormats runs any dialect over anything. The lines are counted, frames lie within them, and spans that are cut at a
// line's end do not show.
func FuzzFormats(f *testing.F) {
	table := Table()
	number := map[string]uint8{}
	for i, d := range table {
		number[d.Name] = uint8(i)
	}
	for name, d := range formats {
		if b, err := os.ReadFile(filepath.Join("testdata", "formats", name+".log")); err == nil && len(b) < 2500 {
			f.Add(b, number[d], uint16(len(b)/2))
		}
	}
	f.Fuzz(func(t *testing.T, log []byte, which uint8, at uint16) {
		if len(log) > 1<<14 {
			return
		}
		if which == 255 {
			Detect(log, log)
		}
		d := table[int(which)%len(table)]
		if at%2 == 1 && !d.Carried && d.Ordered {
			d = d.behindCarriers()
		}
		lines := uint32(bytes.Count(log, []byte{'\n'}))
		if len(log) > 0 && log[len(log)-1] != '\n' {
			lines++
		}
		whole := readWhole(d, log)
		if whole.Lines != lines {
			t.Errorf("%s counts %d lines of %d", d.Name, whole.Lines, lines)
		}
		for i := range whole.Frames {
			if n := whole.Frames[i].Line; n == 0 || n > lines {
				t.Errorf("%s: a frame on line %d of %d", d.Name, n, lines)
			}
			frame.AppendBrief(nil, &whole.Frames[i], true)
		}
		cut := bytes.LastIndexByte(log[:min(int(at), len(log))], '\n') + 1
		if d.Ordered && cut > 0 && cut < len(log) {
			if a, b := sayFrames(whole), sayFrames(readWhole(d, log[:cut], log[cut:])); a != b {
				t.Errorf("%s reads two spans as\n%s\nand one as\n%s", d.Name, b, a)
			}
		}
	})
}
