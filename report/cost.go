package report

import (
	"fmt"
	"io"
	"math"

	"mcpdiag/diagnose"
)

// Cost is what a frame log costs in bytes a second, before any rounding. Way 0 is what clients send, way 1 what servers do.
type Cost struct {
	Source string // the log that was measured; "" for figures that were given
	Calls  float64
	Ways   [2]CostWay
	Known  [2]bool // whether anything is known of a way's payloads
	Span   float64 // seconds measured; 0 for figures that were given
	Busy   float64 // payload bytes in the busiest second; 0: not measured
}

// CostWay is one direction, in bytes a second.
type CostWay struct{ Payload, Metadata float64 }

// Payload and Metadata are the sums of both directions, in bytes a second.
func (c *Cost) Payload() float64  { return c.Ways[0].Payload + c.Ways[1].Payload }
func (c *Cost) Metadata() float64 { return c.Ways[0].Metadata + c.Ways[1].Metadata }

const (
	secondsADay = 86_400
	shortSpan   = 600 // seconds
)

// CostText says it for a terminal. Each figure is rounded once, from the product itself.
func CostText(w io.Writer, c *Cost, s Style) error {
	p := newPrinter(w, s)
	head := fmt.Sprintf("%s calls a second", trim(c.Calls))
	if c.Source != "" {
		head = fmt.Sprintf("%s: %s over %s s", c.Source, head, trim(c.Span))
	}
	p.hang("", head)
	p.line("")
	rows := c.rows("payloads", c.Payload(), func(w CostWay) float64 { return w.Payload }, c.Known)
	rows = append(rows, c.rows("metadata only", c.Metadata(), func(w CostWay) float64 { return w.Metadata }, [2]bool{true, true})...)
	p.table([]string{"", "bytes a second", "a day", "share"}, rows, 1, 2, 3)
	p.line("")
	if c.Busy > 0 {
		p.hang("", fmt.Sprintf("The busiest second had %s B of payloads.", whole(c.Busy)))
	}
	if c.Span > 0 && c.Span < shortSpan {
		p.hang("", fmt.Sprintf("%s s say little about a day.", trim(c.Span)))
	}
	p.hang("", c.verdict())
	return p.err
}

func (c *Cost) rows(name string, all float64, part func(CostWay) float64, known [2]bool) [][]string {
	rows := [][]string{{name, whole(all), aDay(all), ""}}
	if !known[0] || !known[1] {
		return rows
	}
	for i, words := range []string{"  client to server", "  server to client"} {
		x := part(c.Ways[i])
		rows = append(rows, []string{words, whole(x), aDay(x), percent(x, all)})
	}
	return rows
}

// verdict says what can be saved, and what cannot.
func (c *Cost) verdict() string {
	text := "A log with payloads holds both."
	if c.Payload() > 0 {
		text += fmt.Sprintf(" Metadata alone is %s of the payloads.", percent(c.Metadata(), c.Payload()))
	}
	if !c.Known[0] || !c.Known[1] {
		return text + " With the size of a request too, the share of each direction can be told."
	}
	small := 0
	if c.Ways[1].Payload < c.Ways[0].Payload {
		small = 1
	}
	kept := c.Payload() - c.Ways[small].Payload
	return text + fmt.Sprintf(" Dropping a direction saves nothing: without the %s it is still %s B a second, and of a log of one direction no call can be placed.",
		[]string{"requests", "answers"}[small], whole(kept))
}

// whole writes a rate without decimals, unless there is nothing else to it.
func whole(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2g", x)
	}
	return diagnose.Thousands(int64(math.Round(x)))
}

// trim writes a rate or a duration with up to three decimals.
func trim(x float64) string {
	if x == math.Trunc(x) {
		return diagnose.Thousands(int64(x))
	}
	return fmt.Sprintf("%.3g", x)
}

func percent(x, of float64) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*x/of)
}

// aDay writes what a rate comes to in a day, in decimal units.
func aDay(rate float64) string {
	x := rate * secondsADay
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if x >= unit.size {
			return fmt.Sprintf("%.1f %s", x/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f B", x)
}

// CostSchema names the form of CostDocument.
const CostSchema = "mcpdiag.cost/v1"

// CostDocument is the JSON form. Rates are in bytes a second and not rounded; what is not known is null.
type CostDocument struct {
	Schema         string                 `json:"schema"`
	Log            *string                `json:"log"`
	Seconds        *float64               `json:"seconds"`
	CallsPerSecond float64                `json:"calls_per_second"`
	Payload        CostSumJSON            `json:"payload"`
	Metadata       CostSumJSON            `json:"metadata"`
	Ways           map[string]CostWayJSON `json:"directions"`
	Busiest        *float64               `json:"busiest_second_payload_bytes"`
}

// CostSumJSON is a rate, and what it comes to in a day.
type CostSumJSON struct {
	BytesPerSecond float64 `json:"bytes_per_second"`
	BytesPerDay    float64 `json:"bytes_per_day"`
}

// CostWayJSON is one direction.
type CostWayJSON struct {
	Payload  *float64 `json:"payload_bytes_per_second"`
	Metadata float64  `json:"metadata_bytes_per_second"`
}

// CostJSON writes it as one indented document.
func CostJSON(w io.Writer, c *Cost, _ Style) error {
	sum := func(x float64) CostSumJSON { return CostSumJSON{x, x * secondsADay} }
	doc := CostDocument{Schema: CostSchema, Log: text(c.Source), Seconds: positive(c.Span), CallsPerSecond: c.Calls,
		Payload: sum(c.Payload()), Metadata: sum(c.Metadata()), Ways: map[string]CostWayJSON{}, Busiest: positive(c.Busy)}
	for i, name := range []string{"c2s", "s2c"} {
		way := CostWayJSON{Metadata: c.Ways[i].Metadata}
		if c.Known[i] {
			way.Payload = &c.Ways[i].Payload
		}
		doc.Ways[name] = way
	}
	return writeDocument(w, doc)
}

func positive(x float64) *float64 {
	if x <= 0 {
		return nil
	}
	return &x
}
