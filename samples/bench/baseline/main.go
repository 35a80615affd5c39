// Baseline runs duckdb_only.sql on a pair of logs, in a process of its own, and prints the counts as mcpdiag does:
//
//	go run ./samples/bench/baseline [-sql FILE] CLIENT SERVER
//
// The document on stdout has "summary" (calls by leaf) and "leaves" (the rows of the answer).
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

// leaf is one row of the answer; the quantiles are ns: the median and the 99th per cent.
type leaf struct {
	Leaf    string `json:"leaf"`
	Calls   int64  `json:"calls"`
	Wait    any    `json:"wait_ns"`
	Server  any    `json:"server_ns"`
	Handler any    `json:"handler_ns"`
}

func main() {
	file := flag.String("sql", "samples/bench/duckdb_only.sql", "the statements to run; the last one is the answer")
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	leaves, err := run(context.Background(), *file, flag.Arg(0), flag.Arg(1))
	if err != nil {
		log.Fatal(err)
	}
	if err := show(leaves); err != nil {
		log.Fatal(err)
	}
}

// run opens a database in memory and asks it. Variables belong to a connection, hence one for all.
func run(ctx context.Context, file, client, server string) ([]leaf, error) {
	statements, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	set := fmt.Sprintf("SET VARIABLE client = %s; SET VARIABLE server = %s", quote(client), quote(server))
	if _, err := conn.ExecContext(ctx, set); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, string(statements))
	if err != nil {
		return nil, err
	}
	return scan(rows)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func scan(rows *sql.Rows) ([]leaf, error) {
	defer rows.Close()
	var leaves []leaf
	for rows.Next() {
		var l leaf
		if err := rows.Scan(&l.Leaf, &l.Calls, &l.Wait, &l.Server, &l.Handler); err != nil {
			return nil, err
		}
		leaves = append(leaves, l)
	}
	return leaves, rows.Err()
}

func show(leaves []leaf) error {
	summary := map[string]int64{}
	for _, l := range leaves {
		summary[l.Leaf] = l.Calls
	}
	e := json.NewEncoder(os.Stdout)
	return e.Encode(map[string]any{"summary": summary, "leaves": leaves})
}
