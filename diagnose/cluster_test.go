//go:build cluster

package diagnose_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
	"mcpdiag/join/clickhouse"
	"mcpdiag/samples/cluster"
	"mcpdiag/samples/logtest"
)

// fleet is the cluster that these tests share. Each has a database of its own.
var fleet *cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "mcpdiag-cluster-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if fleet, err = cluster.Start(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer fleet.Stop()
		return m.Run()
	}())
}

func nobody(string) string { return "" }

// shard opens a database by way of a shard.
func shard(t *testing.T, n int, database string) *clickhouse.DB {
	t.Helper()
	db, err := clickhouse.Open(fleet.Shards[n].Address(database), nobody)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// fresh makes a database on both shards.
func fresh(t *testing.T, database string) *clickhouse.DB {
	t.Helper()
	for n := range fleet.Shards {
		if err := shard(t, n, database).Init(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return shard(t, 0, database)
}

func ship(t *testing.T, db *clickhouse.DB, dirs ...string) error {
	t.Helper()
	logs, err := ingest.FoldedLogs(dirs)
	if err != nil {
		t.Fatal(err)
	}
	_, err = clickhouse.Ship(context.Background(), db, openDB(t), logs, t.TempDir(), false)
	return err
}

func mustShip(t *testing.T, db *clickhouse.DB, dirs ...string) {
	t.Helper()
	if err := ship(t, db, dirs...); err != nil {
		t.Fatal(err)
	}
}

// TestClusterCases: what is said of logs in a cluster is what is said of the logs.
func TestClusterCases(t *testing.T) {
	entries, err := os.ReadDir("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for k, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			client, server := sides(t, filepath.Join("testdata/cases", e.Name()))
			want := said(t, logtest.Diagnose(t, client, server))
			db := fresh(t, fmt.Sprintf("case_%d", k))
			mustShip(t, db, fold(t, server, client))
			for _, wanted := range []join.Want{join.Each, join.Odd} {
				if got := said(t, broughtFrom(t, db, logtest.Options(), wanted)); got != want {
					t.Errorf("wanted %d: %s", wanted, firstDifference(got, want))
				}
			}
		})
	}
}

// TestClusterMillion: so it is of a million calls, to the last byte of the JSON.
func TestClusterMillion(t *testing.T) {
	client, server := million(t)
	folded := fold(t, client, server)
	db := fresh(t, "million")
	mustShip(t, db, folded)
	d := sameMillion(t, db, client, server, folded)
	dieWhileJoined(t, db)
	var parquet int64
	for _, text := range contents(t, folded) {
		parquet += int64(len(text))
	}
	stored := int64(0)
	for n := range fleet.Shards {
		stored += int64(number(t, n, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'million'"))
	}
	t.Logf("%d calls, %d stalled: the same from the logs, the folder and the cluster; a call is %.0f B as Parquet, %.0f B in ClickHouse",
		d.Summary.Calls, d.Summary.Stalled, float64(parquet)/float64(d.Summary.Calls), float64(stored)/float64(d.Summary.Calls))
}

// dieWhileJoined kills a shard in the middle of a join of many calls: an error that names it, and no summary of what the other has.
func dieWhileJoined(t *testing.T, db *clickhouse.DB) {
	t.Helper()
	o := logtest.Options()
	start := time.Now()
	if _, err := join.Bring(context.Background(), db, nil, &o.Limits, join.Odd); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Since(start)/2, fleet.Shards[1].Kill)
	b, err := join.Bring(context.Background(), db, nil, &o.Limits, join.Odd)
	kill.Stop()
	if name := fmt.Sprintf("127.0.0.1:%d", fleet.Shards[1].TCP); err == nil || b != nil || !strings.Contains(err.Error(), name) {
		t.Errorf("brought %v, error %v, want one that names %s", b, err, name)
	}
	if err := fleet.Shards[1].Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := join.Bring(context.Background(), db, nil, &o.Limits, join.Odd); err != nil {
		t.Errorf("once it is back: %v", err)
	}
}

// number asks one shard.
func number(t *testing.T, n int, query string) (out float64) {
	t.Helper()
	answer, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/", fleet.Shards[n].HTTP), "text/plain", strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := fmt.Fscan(answer.Body, &out); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

// TestClusterTwice: a log that is shipped twice, by way of either shard, counts once, even where its rows stand there twice.
func TestClusterTwice(t *testing.T) {
	client, server := many(t)
	db, folded := fresh(t, "twice"), fold(t, client, server)
	mustShip(t, db, folded)
	o := logtest.Options()
	o.All = false
	want := inJSON(t, logtest.DiagnoseWith(t, o, client, server))
	before := number(t, 0, "SELECT count() FROM twice.halves")
	mustShip(t, shard(t, 1, "twice"), folded)
	if after := number(t, 0, "SELECT count() FROM twice.halves"); after != before {
		t.Errorf("rows before %v, after %v: what was there was sent again", before, after)
	}
	for _, rows := range []string{"halves", "stretches", "marks", "logs"} { // as after a batch that was sent and not acknowledged
		if err := db.Exec(context.Background(), fmt.Sprintf("INSERT INTO twice.%s_here SELECT * FROM twice.%[1]s_here", rows)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range fleet.Shards {
		if got := inJSON(t, broughtFrom(t, shard(t, n, "twice"), o, join.Few)); got != want {
			t.Errorf("by way of shard %d: %s", n+1, firstDifference(got, want))
		}
	}
}

// TestClusterHostile: names and ids are data, on the way there, in questions and on the way back.
func TestClusterHostile(t *testing.T) {
	client, server, names := hostile(t)
	db := fresh(t, "hostile")
	mustShip(t, db, fold(t, client, server))
	askHostile(t, db, client, server, names)
}

// TestClusterShardDies: a shard that dies while logs are shipped or joined is named, nothing is counted by half, and a second run
// repairs it.
func TestClusterShardDies(t *testing.T) {
	client, server := many(t)
	db, folded := fresh(t, "dies"), fold(t, client, server)
	died := func() { // once it has some rows
		for number(t, 1, "SELECT count() FROM dies.halves_here") == 0 {
			time.Sleep(time.Millisecond)
		}
		fleet.Shards[1].Kill()
	}
	named := func(err error) {
		t.Helper()
		if name := fmt.Sprintf("127.0.0.1:%d", fleet.Shards[1].TCP); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that names %s", err, name)
		}
	}
	o := logtest.Options()
	done := make(chan struct{})
	go func() { defer close(done); died() }()
	named(ship(t, db, folded))
	<-done
	_, err := join.Bring(context.Background(), db, nil, &o.Limits, join.Few)
	named(err)

	if err := fleet.Shards[1].Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, err = join.Bring(context.Background(), db, nil, &o.Limits, join.Few)
	if err == nil || !strings.Contains(err.Error(), "ship") {
		t.Errorf("error %v, want one that says to ship it", err)
	}
	mustShip(t, db, folded)
	if got, want := said(t, broughtFrom(t, db, o, join.Odd)), said(t, logtest.Diagnose(t, client, server)); got != want {
		t.Error(firstDifference(got, want))
	}
}

// TestClusterCutOff: a log whose last row has reached only some of the shards is not taken for one that is there.
func TestClusterCutOff(t *testing.T) {
	client, server := many(t)
	db, folded := fresh(t, "cut_off"), fold(t, client, server)
	mustShip(t, db, folded)
	if err := shard(t, 1, "cut_off").Exec(context.Background(), "TRUNCATE TABLE logs_here"); err != nil {
		t.Fatal(err)
	}
	o := logtest.Options()
	if _, err := join.Bring(context.Background(), db, nil, &o.Limits, join.Few); err == nil || !strings.Contains(err.Error(), "1 of 2 shards") {
		t.Errorf("error %v", err)
	}
	mustShip(t, db, folded)
	if got, want := said(t, broughtFrom(t, db, o, join.Odd)), said(t, logtest.Diagnose(t, client, server)); got != want {
		t.Error(firstDifference(got, want))
	}
}

// TestClusterGrown: a log that has grown since is refused; what is there stays right.
func TestClusterGrown(t *testing.T) {
	whole := "0 > req 1 session=s\n5 < res 1 session=s\n"
	server := logtest.Read(t, frame.Server, whole)
	db := fresh(t, "grown")
	mustShip(t, db, fold(t, logtest.Read(t, frame.Client, "0 > req 1 session=s\n"), server))
	err := ship(t, db, fold(t, logtest.Read(t, frame.Client, whole)))
	if err == nil || !strings.Contains(err.Error(), "has grown") {
		t.Errorf("error %v", err)
	}
	if d := broughtFrom(t, db, logtest.Options(), join.Each); d.Summary.Calls != 1 || d.Summary.Leaf[diagnose.WrittenNotRead] != 1 {
		t.Errorf("%+v", d.Summary)
	}
}

// TestClusterAccount: a password reaches the server and no error.
func TestClusterAccount(t *testing.T) {
	for _, tt := range []struct {
		user, password string
		ok             bool
	}{{cluster.User, cluster.Password, true}, {cluster.User, "wrong-" + cluster.Password, false}} {
		address := fmt.Sprintf("clickhouse://127.0.0.1:%d/account", fleet.Shards[0].HTTP)
		db, err := clickhouse.Open(address, func(key string) string {
			return map[string]string{"CLICKHOUSE_USER": tt.user, "CLICKHOUSE_PASSWORD": tt.password}[key]
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Init(context.Background())
		if (err == nil) != tt.ok || strings.Contains(fmt.Sprint(err, db), tt.password) {
			t.Errorf("%s: %v", tt.user, err)
		}
	}
}
