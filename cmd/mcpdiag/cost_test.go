package main

import (
	"bytes"
	"testing"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// TestRecordSize: what cost multiplies is what the recorder writes, but for a few digits of times and numbers.
func TestRecordSize(t *testing.T) {
	for _, f := range []frame.Frame{
		{Dir: frame.C2S, Kind: frame.Request, ID: frame.ID("100047"), Method: []byte("tools/call"), Name: []byte("search_invoices"), Bytes: 312, Rows: frame.Unknown},
		{Dir: frame.S2C, Kind: frame.Response, ID: frame.ID("100047"), Bytes: 12_000, Rows: frame.Unknown},
	} {
		var log bytes.Buffer
		rec, err := tap.Open(tap.Options{Side: frame.Server, Stderr: &log})
		if err != nil {
			t.Fatal(err)
		}
		rec.Record(&tap.Event{Frame: f})
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		got, real := recordSize(f.Kind, f.Bytes), float64(log.Len())
		if got < real || got > real+30 { // a young process has small numbers
			t.Errorf("%s: %v bytes, the recorder wrote %s", f.Kind, got, log.Bytes())
		}
	}
}
