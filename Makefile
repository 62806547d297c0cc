# What a contributor runs. `make` lists the targets.
GO ?= go
# Nested modules hold what must not enter go.mod: test-only clients and rivals.
NESTED = $(patsubst %/go.mod,%,$(wildcard internal/*/go.mod benchmarks/go.mod))
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRCHECK = github.com/kisielk/errcheck@v1.30.0
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@latest
FUZZTIME ?= 10s

# Servers that the store is held to, as internal/redistest/servers.sh names them.
SERVERS ?= redis-7.0 redis-8.0 valkey-8.1

.PHONY: help test test-servers test32 tools lint fuzz bench soak flood vuln newest

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

test: tools ## set up and run all tests, with the race detector
	$(GO) test -race -timeout 15m ./...
	@echo "# what the adapters have in common: in memory, on Redis"
	@mkdir -p build && $(GO) test -v -run TestAdapter ./nethttp ./gin ./echo ./fiber ./chi >build/adapters.txt || { cat build/adapters.txt; exit 1; }
	@grep -E ' (ok|FAIL|-) +(ok|FAIL|-)$$|^ok' build/adapters.txt
	@for module in $(NESTED); do echo "# $$module"; (cd $$module && $(GO) test -timeout 10m ./...) || exit 1; done

test-servers: ## the store and its faults on Redis 7.0, Redis 8.0 and Valkey 8.1 (needs Debian 12)
	@sh internal/redistest/servers.sh build/servers
	@for server in $(SERVERS); do \
		export REDIS_SERVER=$(CURDIR)/build/servers/$$server; \
		$(GO) test -count=1 -v -run TestAServerTellsWhatItIs ./internal/redistest | grep " answers: $$server\." || exit 1; \
		$(GO) test -count=1 ./internal/redistest ./core/redisstore ./internal/reliability || exit 1; \
		for module in internal/frozen internal/linearizable; do (cd $$module && $(GO) test -count=1 ./...) || exit 1; done; \
	done

tools: # what the tests start: redis-server, prometheus, curl, node
	@sh internal/redistest/install.sh

lint: ## gofmt, vet, staticcheck, errcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt -w these:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(ERRCHECK) -ignoretests -exclude .errcheck $$($(GO) list ./... | grep -v test)

test32: ## test the engine on 32 bits
	GOARCH=386 CGO_ENABLED=0 $(GO) test ./core ./headers ./keyfuncs ./pipeline

# Before Go 1.27 the fuzzer at times takes the end of its own time for a failure, with no input to show.
fuzz: ## fuzz every parser, FUZZTIME (10s) each
	@mkdir -p build
	@$(GO) list ./... | while read -r package; do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep ^Fuzz); do \
			echo "# $$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 50x $$package >build/fuzz.txt 2>&1 || \
				{ grep -q '^ *context deadline exceeded$$' build/fuzz.txt && ! grep -q 'Failing input' build/fuzz.txt; } || \
				{ cat build/fuzz.txt; exit 1; }; \
			grep '^fuzz: elapsed' build/fuzz.txt | tail -n 1; \
		done; \
	done

bench: tools ## compare with other libraries, and write benchmarks/RESULTS.md
	cd benchmarks && $(GO) run .

soak: tools ## thirty minutes of load and faults on Redis
	$(GO) run ./internal/soak -for 30m

flood: ## twenty million keys against a cap of a million
	$(GO) test -count=1 -v -run Flood ./internal/reliability -flood 20000000

vuln: ## look for known vulnerabilities (needs the vulnerability database)
	$(GO) run $(GOVULNCHECK) ./...

newest: ## test with the newest versions of all dependencies, in a copy
	rm -rf build/newest && mkdir -p build/newest && git archive HEAD | tar -x -C build/newest
	cd build/newest && $(GO) get -u ./... && $(GO) mod tidy && $(GO) test -race ./...
