package frame

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// benchLogs are the kinds of log that the decoder must be fast on. line makes the nth line of one.
var benchLogs = []struct {
	name string
	line func(b []byte, n int) []byte
}{
	{"plain", func(b []byte, n int) []byte { return benchLine(b, n, plainOrder, fmt.Sprint(n/4+1), "") }},
	{"shuffled", func(b []byte, n int) []byte {
		return benchLine(b, n, shuffledOrder, fmt.Sprintf(`"%08x-%04d"`, uint32(n/4)*2654435769, n/4), "")
	}},
	{"recorder", func(b []byte, n int) []byte {
		f := Frame{Side: Server, Dir: C2S, Kind: Request, ID: ID(fmt.Sprint(n/4 + 1)), Method: []byte("tools/call"), Name: benchName(n), Bytes: int64(100 + n*37%900),
			Rows: Unknown, Session: []byte("5f0c1f2e"), More: &More{Clock: []byte("host boot 4711"), PID: []byte("4711"), Seq: int64(n), HasSeq: true}}
		f.At.Wall(1772444463, int32(n%1000)*1_000_000, true)
		f.At.Mono(987656369385 + int64(n)*41231)
		return AppendNative(b, &f)
	}},
	{"payload", func(b []byte, n int) []byte { return benchLine(b, n, plainOrder, fmt.Sprint(n/4+1), benchPayload(n)) }},
}

const (
	plainOrder    = `{"ts":T,"mono_ns":M,"side":"server",K,"id":I,N"bytes":B,"session":"s0"P}`
	shuffledOrder = `{"session":"s0","bytes":B,"host":"edge-7",K,"id":I,N"side":"server","ts":T,"mono_ns":M}`
)

func benchName(n int) []byte {
	return []byte([]string{"search_invoices", "send_email", "query_database", "create_ticket", "run_report"}[n*7%11%5])
}

func benchLine(b []byte, n int, order, id, payload string) []byte {
	kind := []string{`"kind":"request","dir":"c2s"`, `"kind":"handler_enter","dir":"c2s"`, `"kind":"handler_exit","dir":"c2s"`, `"kind":"response","dir":"s2c"`}[n%4]
	method := ""
	switch {
	case n%4 == 3:
	case n%13 == 0:
		method = `"method":"ping",`
	default:
		method = fmt.Sprintf(`"method":"tools/call","name":"%s",`, benchName(n))
	}
	if payload != "" {
		payload = `,"frame":` + payload
	}
	r := strings.NewReplacer(":T", fmt.Sprintf(`:"2026-03-02T09:41:%02d.%03dZ"`, n/1000%60, n%1000), ":M", fmt.Sprintf(":%d", 987656369385+n*41231),
		",K", ","+kind, ":I", ":"+id, ",N", ","+method, ":B", fmt.Sprintf(":%d", 50+n*37%2000), "P}", payload+"}")
	return append(append(b, r.Replace(order)...), '\n')
}

// benchPayload is 12 KB of JSON: half of the lines have it once more as text, with an escape at each quote.
func benchPayload(n int) string {
	item := fmt.Sprintf(`{"invoice":{"id":%d,"lines":[{"sku":"A-%d","net":%d.28},{"sku":"B-8799","net":null}]},"customer":"Zoë Ångström %d","open":true}`, 600000+n, n%9999, n%5000, n%999)
	list := "[" + strings.Repeat(item+",", 90) + "{}]"
	if n%2 == 0 {
		return `{"jsonrpc":"2.0","result":` + list + `}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","params":{"text":%s}}`, appendString(nil, []byte(list)))
}

func BenchmarkDecode(b *testing.B) {
	for _, log := range benchLogs {
		var text []byte
		lines := 0
		for ; len(text) < 4<<20; lines++ {
			text = log.line(text, lines)
		}
		b.Run("log="+log.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var d Decoder
			frames := make([]Frame, 512)
			for b.Loop() {
				decodeAll(b, &d, text, frames)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
		})
	}
}

// decodeAll reads each line of text, as a dialect's reader does, into one of frames.
func decodeAll(tb testing.TB, d *Decoder, text []byte, frames []Frame) {
	for n := 0; len(text) > 0; n++ {
		f := &frames[n%len(frames)]
		if size := d.Next(text, f); size > 0 {
			text = text[size:]
			continue
		}
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		if reason := d.Decode(line, f); reason != NoReason {
			tb.Fatalf("%.200q: %s", line, reason)
		}
		text = rest
	}
}
