package join

import (
	"context"
	_ "embed"

	"mcpdiag/ingest"
)

//go:embed calls.sql
var callsSQL string

// Joined is a database in which the table `calls` stands, and how the logs were aligned for it.
type Joined struct {
	Conn   *ingest.Conn
	Logs   []*ingest.Log
	Align  *ingest.Alignment
	Doubts []Doubt
}

// Join aligns the logs (one or two) and joins their halves on conn.
func Join(ctx context.Context, conn *ingest.Conn, logs []*ingest.Log, limits *ingest.Limits) (*Joined, error) {
	align, doubts := Align(logs)
	if err := ingest.Register(conn, logs, align, limits); err != nil {
		return nil, err
	}
	if err := conn.Exec(ctx, callsSQL); err != nil {
		return nil, err
	}
	return &Joined{conn, logs, align, doubts}, nil
}
