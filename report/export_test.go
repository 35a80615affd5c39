package report_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"mcpdiag/diagnose"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// TestOTLP reads the spans with the protocol's own definition, which takes no member that it does not know.
func TestOTLP(t *testing.T) {
	spans := otlpSpans(t, sample(t, "incident"))
	halves, linked := 0, 0
	byID := map[string]*tracepb.Span{}
	for _, s := range spans {
		byID[string(s.SpanId)] = s
		halves++
	}
	if want := 67 + 64 - 1; halves != want || len(byID) != want { // 67 in the client's log, all but 3 and one lost request in the server's
		t.Errorf("%d spans, %d ids, want %d", halves, len(byID), want)
	}
	for _, s := range spans {
		for _, l := range s.Links {
			other := byID[string(l.SpanId)]
			if other == nil || string(other.TraceId) != string(l.TraceId) || other.Kind == s.Kind || string(other.TraceId) == string(s.TraceId) {
				t.Errorf("%s is linked to %v", s.Name, other)
			}
			linked++
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano || s.StartTimeUnixNano == 0 || len(s.ParentSpanId) > 0 {
			t.Errorf("%s lasts from %d to %d, parent %x", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, s.ParentSpanId)
		}
		if a := attribute(s, "mcp.method.name"); !strings.HasPrefix(s.Name, a) || a == "" {
			t.Errorf("span %q of method %q", s.Name, a)
		}
		// A cancelled call has no status; create_invoice was answered with an error.
		if failed := s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR; failed != (attribute(s, "error.type") != "") || failed != (s.Name == "tools/call create_invoice") {
			t.Errorf("%s has status %v, error.type %q", s.Name, s.Status, attribute(s, "error.type"))
		}
	}
	if linked != 2*(64-1) {
		t.Errorf("%d links, want two for each of 63 calls that both logs have", linked)
	}
}

func otlpSpans(t *testing.T, d *diagnose.Diagnosis) []*tracepb.Span {
	t.Helper()
	var b bytes.Buffer
	if err := report.OTLP(&b, d, "test"); err != nil {
		t.Fatal(err)
	}
	var data tracepb.TracesData
	if err := protojson.Unmarshal(b.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	var spans []*tracepb.Span
	for _, r := range data.ResourceSpans {
		for _, s := range r.ScopeSpans {
			spans = append(spans, s.Spans...)
		}
	}
	// protojson reads ids as base64; OTLP writes them as hexadecimal of 16 and 8 bytes.
	var raw struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct{ TraceID, SpanID string }
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &raw); err != nil {
		t.Fatal(err)
	}
	for _, r := range raw.ResourceSpans {
		for _, s := range r.ScopeSpans[0].Spans {
			if a, err := hex.DecodeString(s.TraceID); err != nil || len(a) != 16 {
				t.Errorf("trace id %q", s.TraceID)
			}
			if a, err := hex.DecodeString(s.SpanID); err != nil || len(a) != 8 {
				t.Errorf("span id %q", s.SpanID)
			}
		}
	}
	return spans
}

func attribute(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestExportWithoutTimes: what has no time has no place on an axis, and is left out rather than put at 0.
func TestExportWithoutTimes(t *testing.T) {
	d := logtest.Pair(t, "- > req 1\n- < res 1", "5 > req 1\n9 < res 1")
	spans := otlpSpans(t, d)
	if len(spans) != 1 || spans[0].Kind != tracepb.Span_SPAN_KIND_SERVER || spans[0].EndTimeUnixNano-spans[0].StartTimeUnixNano != 4e6 {
		t.Errorf("spans %v", spans)
	}
	var b bytes.Buffer
	if err := report.Trace(&b, d, "test"); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b.Bytes(), []byte(`"ph":"X"`)); n != 1 {
		t.Errorf("%d slices, want the server's alone: %s", n, b.String())
	}
}
