GO ?= go
FUZZTIME ?= 20s

.PHONY: build demo test lint cross fuzz bench pgo fault-lab test-peers test-cluster test-clickhouse-dialect clean

build:
	$(GO) build -o mcpdiag ./cmd/mcpdiag

# The main job on the sample logs. Its exit status is 1, since a call is stalled there.
demo: build
	./mcpdiag join samples/client.log samples/server.log || [ $$? -eq 1 ]

test: browser npm
	$(GO) test ./...

# The tests of the HTML report open it in a browser; its pages are drawn with, and checked by, npm packages.
.PHONY: browser npm charts
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { apt-get update -q && apt-get install -qy chromium; } || \
	  { echo "make test needs chromium, and apt-get could not install it: put chromium or google-chrome on the PATH"; exit 1; }

npm: .npm/done

.npm/done: report/page/package-lock.json
	@command -v npm >/dev/null || { apt-get update -q && apt-get install -qy npm; } || \
	  { echo "make test needs npm, and apt-get could not install it"; exit 1; }
	mkdir -p .npm && cp report/page/package.json report/page/package-lock.json report/page/*.mjs .npm/
	cd .npm && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

# Bundles the chart library of the HTML report again, after its version in report/page/package.json was changed
# (npm install --package-lock-only --omit-lockfile-registry-resolved there).
charts: npm
	cp report/page/*.mjs .npm/ && cd .npm && node bundle.mjs ../report/page

lint:
	@test -z "$$(gofmt -s -l .)" || { gofmt -s -l .; echo "gofmt -s wants these"; exit 1; }
	$(GO) vet ./...
	@test "$$($(GO) list -deps ./ingest/frame ./ingest/tap ./cmd/mcptap | grep -c duckdb)" = 0 || { echo "frames and recorders must not know DuckDB"; exit 1; }
	@test "$$($(GO) list -deps ./ingest/tap ./cmd/... | grep -c -e modelcontextprotocol -e mark3labs)" = 0 || { echo "only the sub-packages of ingest/tap may know an SDK"; exit 1; }

# Profiles the main job anew. The compiler reads default.pgo and makes the paths that are hot there faster; after a change of those
# paths an old profile costs speed and nothing else.
pgo:
	@dir=$$(mktemp -d); $(GO) test ./cmd/mcpdiag -pgo=off -trimpath -run '^$$' -bench '^BenchmarkJoin$$' -benchtime 6x -o "$$dir/join.test" -cpuprofile "$$dir/cpu" && \
	  cp "$$dir/cpu" cmd/mcpdiag/default.pgo; rm -r "$$dir"

# The recorders alone, as they are shipped: static, for each system. CROSS=DIR keeps them.
cross:
	@dir=$${CROSS:-$$(mktemp -d)}; mkdir -p "$$dir"; for os in linux darwin windows; do \
	  GOOS=$$os CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o "$$dir/mcptap-$$os" ./cmd/mcptap && GOOS=$$os CGO_ENABLED=0 $(GO) vet ./ingest/tap || exit 1; \
	done; wc -c "$$dir"/mcptap-*; [ -n "$$CROSS" ] || rm -r "$$dir"

# Every fuzz target for a while.
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

# The bars, side by side in one run; -quick takes a minute, the whole some ten.
bench:
	$(GO) run ./samples/bench $(BENCH)

# Every fault of the sample server and client, recorded on both sides, joined: injected against diagnosed.
fault-lab:
	$(GO) run ./samples/faultlab

# Real clients, servers, a gateway and the conformance suite from npm, directly and through the recorders. Needs npm and its registry.
test-peers:
	$(GO) run ./samples/peers

# Folded logs in a ClickHouse of two shards: two servers of the oldest dialect that is served, as Debian has it, on loopback.
test-cluster:
	@command -v clickhouse-server >/dev/null || { apt-get update -q && apt-get install -qy --no-install-recommends clickhouse-server; } || \
	  { echo "make test-cluster needs clickhouse-server, and apt-get could not install it"; exit 1; }
	@out=$$(mktemp); $(GO) test -tags cluster -run TestCluster -v -timeout 30m ./cmd/mcpdiag ./diagnose > $$out; status=$$?; grep -v '^=== ' $$out; rm $$out; exit $$status

# The same SQL in today's dialect: a ClickHouse in the test's own process, 560 MB from npm.
CHDB ?= 26.7.3-stable.1
test-clickhouse-dialect: .chdb/libchdb.so
	@out=$$(mktemp); CHDB_LIB_PATH=$(CURDIR)/.chdb/libchdb.so $(GO) test -tags chdb -run TestDialect -v -timeout 30m ./diagnose > $$out; status=$$?; grep -v '^=== ' $$out; rm $$out; exit $$status

.chdb/libchdb.so:
	@command -v npm >/dev/null || { apt-get update -q && apt-get install -qy npm; } || \
	  { echo "make test-clickhouse-dialect needs npm, and apt-get could not install it"; exit 1; }
	mkdir -p .chdb && cd .chdb && npm install --prefix . --ignore-scripts --no-audit --no-fund @chdb/lib-linux-x64-gnu@$(CHDB)
	ln -sf node_modules/@chdb/lib-linux-x64-gnu/libchdb.so $@

# What a package ships: the man pages and the completions, made by the program itself, and where they go.
PREFIX ?= /usr/local
.PHONY: man completions install

man: build
	./mcpdiag man share/man/man1

completions: build
	mkdir -p share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d
	./mcpdiag completion bash > share/bash-completion/completions/mcpdiag
	./mcpdiag completion zsh > share/zsh/site-functions/_mcpdiag
	./mcpdiag completion fish > share/fish/vendor_completions.d/mcpdiag.fish

install: man completions
	install -D -m 755 mcpdiag $(DESTDIR)$(PREFIX)/bin/mcpdiag
	cd share && find . -type f -exec install -D -m 644 {} $(DESTDIR)$(PREFIX)/share/{} \;

clean:
	rm -rf mcpdiag share
