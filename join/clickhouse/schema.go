package clickhouse

import (
	"context"
	"fmt"
	"strings"

	"mcpdiag/ingest"
	"mcpdiag/join"
)

// order is what the rows of each table are sorted by, and what makes two rows the same one.
var order = map[string]string{
	"logs": "log, shard", "stretches": "session, log, stretch", "marks": "session, log, line, cityHash64(body)",
	"halves": "session, requester, id, nth, side, log, half",
}

// shardBy spreads the rows of a table over the shards. Each shard has the row of each log, so that it can tell by itself which
// logs are there.
var shardBy = map[string]string{"logs": "shard", "stretches": "sipHash64(session)", "marks": "sipHash64(session)", "halves": "sipHash64(session)"}

// Init creates the database, the tables on the server that the address names, and with a cluster those over its shards. It is run
// once for each server: only a server with ZooKeeper could do it for others.
func (d *DB) Init(ctx context.Context) error {
	if err := d.exec(ctx, "default", "CREATE DATABASE IF NOT EXISTS `"+d.database+"`"); err != nil {
		return err
	}
	for _, statement := range Schema(d.database, d.cluster) {
		if err := d.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Schema is the statements that make the tables of a database, and with a cluster those over its shards.
func Schema(database, cluster string) []string {
	var list []string
	for _, table := range ingest.FoldedTables() {
		list = append(list, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s_here (%s) ENGINE = ReplacingMergeTree() ORDER BY (%s)", table, strings.Join(columnsOf(table), ", "), order[table]))
	}
	list = append(list,
		"CREATE VIEW IF NOT EXISTS known_here AS SELECT DISTINCT log FROM "+qualify("logs_here", database),
		"CREATE VIEW IF NOT EXISTS calls_here AS "+qualify(join.CallsSQL, database),
		"CREATE VIEW IF NOT EXISTS whole_here AS "+qualify(join.WholeSQL, database))
	if cluster == "" {
		return list
	}
	for _, table := range ingest.FoldedTables() {
		list = append(list, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS %[1]s_here ENGINE = Distributed(`%s`, `%s`, %[1]s_here, %[4]s)", table, cluster, database, shardBy[table]))
	}
	return append(list, fmt.Sprintf("CREATE TABLE IF NOT EXISTS calls AS calls_here ENGINE = Distributed(`%s`, `%s`, calls_here)", cluster, database))
}

// sides is the type of the columns that name one.
const sides = "Enum8('client' = 1, 'server' = 2)"

func columnsOf(table string) []string {
	var list []string
	for _, c := range ingest.FoldedColumns(table) {
		kind := "String"
		switch {
		case c.Name == "side" || c.Name == "requester":
			kind = sides
		case c.Number:
			kind = "Int64"
		}
		list = append(list, c.Name+" "+kind)
	}
	if table == "logs" {
		list = append(list, "shard Int64", "shards Int64")
	}
	return list
}
