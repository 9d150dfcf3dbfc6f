# make help lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

GEN  := go tool -modfile=tools/gen/go.mod
LINT := go tool -modfile=$(CURDIR)/tools/lint/go.mod golangci-lint

# The modules of this repository, without that of the linter: it keeps the versions of the linter's release.
MODULES := . devcluster devcluster/cmd/devcluster devcluster/nodes bench examples/postgres ui/browsertest \
	$(addprefix tools/,gen image deploy helm3 certmanager monitoring suites purity apidiff)

# The race detector needs a C compiler; without one the same tests run without it.
RACE := $(shell command -v $$(go env CC) >/dev/null 2>&1 && echo -race)

DEVCLUSTER_SRC := $(shell find devcluster/cmd/devcluster -name '*.go' -not -name '*_test.go' -print -o -name '*.yaml' -print) \
	devcluster/cmd/devcluster/go.mod devcluster/cmd/devcluster/go.sum
NODES_SRC      := $(shell find devcluster/nodes -name '*.go') devcluster/nodes/go.mod devcluster/nodes/go.sum
ARMATURE_SRC   := $(shell find api builder cmd config/crd events internal operators store ui/assets ui/*.go \
	-path '*/testdata' -prune -o -type f -not -name '*_test.go' -print) go.mod go.sum

.PHONY: help build image nodes demo demo-flux recordings example-webapp example-kvstore bench released-tools e2e test-nodes fuzz check \
	lint generate check-generated tidy check-tidy api-changes clean ui check-ui test-ui

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "%-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: bin/armature bin/devcluster bin/kubectl-armature ## Build bin/armature and bin/devcluster

# The names by which kubectl finds its plugins, and what completes their arguments.
bin/kubectl-armature: bin/armature
	ln -sf armature bin/kubectl-armature
	ln -sf armature bin/kubectl_complete-armature

bin/armature: $(ARMATURE_SRC)
	@hack/say-first-build.sh bin/armature "about 1 minute"
	go build -o $@ ./cmd/armature

bin/devcluster: $(DEVCLUSTER_SRC)
	@hack/say-first-build.sh bin/devcluster "5 to 10 minutes on 2 cores: it compiles all of Kubernetes"
	go build -C devcluster/cmd/devcluster -o $(CURDIR)/$@ .

nodes: bin/nodes/pause.tar ## Build the programs of nodes with real containers (devcluster up --containers) into bin/nodes; needs Linux

# runc needs C: gcc, pkg-config and libseccomp-dev.
NODES_TAGS := seccomp,no_btrfs,no_devmapper,no_zfs

bin/nodes/pause.tar: $(NODES_SRC)
	@hack/needs-of-nodes.sh build
	@hack/say-first-build.sh $@ "10 minutes on 2 cores: it compiles the kubelet, containerd, runc and CoreDNS"
	cd devcluster/nodes && go build -tags $(NODES_TAGS) -o $(CURDIR)/bin/nodes/ \
		-ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes)" \
		./coredns $$(go list -f '{{.ImportPath}}' tool)
	cd tools/image && go run . -source $(CURDIR)/devcluster/nodes -package ./pause -name docker.io/devcluster/pause -version 1 \
		-platforms linux/$$(go env GOARCH) -output $(CURDIR)/$@

VERSION  := $(shell git describe --tags --always --dirty --match "v*" 2>/dev/null)
REVISION := $(shell git rev-parse HEAD 2>/dev/null)
CREATED  := $(shell git log -1 --format=%ct 2>/dev/null)

# Both, unless it is for one machine only.
PLATFORMS := linux/amd64,linux/arm64

image: ## Write the manager's image to dist/armature.tar, an OCI archive, without a container engine
	cd tools/image && go run . -source $(CURDIR) -package ./cmd/armature -name armature \
		-platforms $(PLATFORMS) -version $(VERSION) -revision $(REVISION) -created $(CREATED) -output $(CURDIR)/dist/armature.tar

demo: build ## Run the example flow on a cluster of its own, and show it live
	@hack/demo.sh

demo-flux: build ## Run three FluxJobs on a quota of two on a cluster of its own, and show how the third waits
	@hack/demo-flux.sh

recordings: build ## Record what the commands show as docs/recording-*.svg; needs Linux
	@hack/recordings.sh

example-webapp: bin/devcluster ## Run the example operator on a cluster of its own
	go build -o bin/webapp ./examples/webapp
	@hack/example-webapp.sh

example-kvstore: bin/devcluster ## Run the example of a distributed store on a cluster of its own
	go build -o bin/kvstore ./examples/kvstore
	@hack/example-kvstore.sh

# The table of tenants compares with the manager of this commit, the last before namespaces had their share.
BEFORE ?= 1eb3f56

bench: build ## Measure builder and the operators side by side with their peers, into docs/benchmarks.md; takes an hour
	cd bench && go run . builder -devcluster $(CURDIR)/bin/devcluster
	cd bench && go run . jobs -devcluster $(CURDIR)/bin/devcluster
	cd bench && go run . plans
	cd bench && go run . replicas -devcluster $(CURDIR)/bin/devcluster
	hack/manager-of.sh $(BEFORE) bin/before
	cd bench && go run . tenants -devcluster $(CURDIR)/bin/devcluster -manager $(CURDIR)/bin/armature \
		-before $(CURDIR)/bin/before/armature -before-crds $(CURDIR)/bin/before/crd

# Runs a suite of tests, by gotestsum, and leaves its events in dist/test for the table of all: see tools/suites.
SUITE  := bin/suites run -out $(CURDIR)/dist/test
REPORT := bin/suites report -out $(CURDIR)/dist/test

# The suites in the order in which make test begins them, four at a time on two processors: those with clusters wait for much that isn't
# the processors', and meanwhile the others use them. The short ones are last, so that at the end none runs alone for long.
SUITES := operators integration programs bench unit race devcluster testenv localnode postgres deploy image monitoring suites purity gen

# Runs suites, each whatever becomes of the others.
run_suites = $(MAKE) --keep-going --no-print-directory $(addprefix suite-,$(1))

TESTS := test suite-ui test-unit test-integration test-devcluster test-tools test-bench test-long coverage $(SUITES:%=suite-%)
.PHONY: $(TESTS)

# Clusters and test binaries collect garbage less often, for more memory beyond what they use: a cluster starts with a quarter less of
# the processors' time, and tests that are small programs take a fifth less.
GOGC ?= 400
$(TESTS): export GOGC := $(GOGC)
suite-unit suite-race: export GOGC := 800

# Tests that run bin/armature don't build it: it is there.
suite-operators suite-integration suite-programs suite-bench test-long coverage: export ARMATURE_BIN := $(CURDIR)/bin/armature

# WEBHOOK=1 runs the operators' suites with the validating webhook on.
export ARMATURE_TEST_WEBHOOK := $(WEBHOOK)

bin/suites: $(wildcard tools/suites/*.go) tools/suites/go.mod
	go build -C tools/suites -o $(CURDIR)/$@ .

# The report knows which suites have failed or didn't run. What they run is built before, by nobody twice.
test: build bin/suites released-tools ## Run the tests, each suite also if another fails, and print one table; without test-ui, e2e and test-long
	@rm -rf dist/test
	+@status=0; $(call run_suites,$(SUITES)) --jobs=4 || status=1; $(REPORT) $(SUITES) || status=1; exit $$status

test-unit: bin/suites ## Run the tests that need no cluster
	+@$(call run_suites,race unit)

test-integration: build released-tools bin/suites ## Run the tests that need a real API server; they start one by themselves; WEBHOOK=1: with the webhook
	+@$(call run_suites,operators integration programs)

test-devcluster: bin/devcluster bin/suites ## Run devcluster's own tests
	+@$(call run_suites,localnode devcluster testenv)

test-tools: released-tools bin/suites ## Run the tests of the tools that build what is released
	+@$(call run_suites,gen image deploy monitoring suites purity)

test-bench: build bin/suites ## Let each benchmark run once in a small size, without checking the numbers
	+@$(call run_suites,bench)

# Suites run side by side. A suite with clusters runs one package at a time: four clusters at once take half as much again of the
# processors' time, and are ready no sooner.
ONE := -p 1

# make lint has gone over all of them with vet. Nobody debugs these binaries: to link them without symbols takes two thirds of the time. A
# busy machine gives a package a small part of a processor.
QUICK := -vet=off -ldflags=-s -timeout 30m

suite-race:
	@$(SUITE) -name race -packages "$$(hack/unit-packages.sh race | xargs)" -- $(QUICK) $(RACE)

suite-unit:
	@$(SUITE) -name unit -packages "$$(hack/unit-packages.sh other | xargs)" -- $(QUICK)

suite-operators suite-integration: suite-%:
	@$(SUITE) -name $* -packages "$$(hack/integration-packages.sh $* | xargs)" -- $(QUICK) $(ONE) $(RACE)

suite-programs:
	@$(SUITE) -name programs -packages "$$(hack/integration-packages.sh programs | xargs)" -- $(QUICK) $(ONE)

# Go keeps results by a test's flags and what it reads in its module, not by a program outside of it. So the programs that the tests of
# another module run are in a flag: a -skip that no test matches.
of_programs = -skip "^$$(cat $(addprefix bin/,$(1)) | sha256sum | cut -c1-16)$$"

suite-localnode:
	@$(SUITE) -name localnode -C devcluster/cmd/devcluster -packages "./internal/localnode/..." -- $(QUICK) $(RACE)

suite-devcluster:
	@$(SUITE) -name devcluster -C devcluster/cmd/devcluster -packages "$$(cd devcluster/cmd/devcluster && go list ./... | grep -v /localnode | xargs)" -- $(QUICK)

# The same for files of other modules that tests read.
of_files = -skip "^$$(git ls-files -z $(1) | xargs -0 cat | sha256sum | cut -c1-16)$$"

# The helper for anyone's tests, with the program of this tree.
suite-testenv: export DEVCLUSTER_BIN := $(CURDIR)/bin/devcluster
suite-testenv:
	@$(SUITE) -name testenv -C devcluster -- $(QUICK) $(ONE) $(call of_programs,devcluster)

suite-ui:
	@$(SUITE) -name ui -C ui/browsertest -- $(QUICK) $(call of_programs,armature devcluster)

# The example with a real PostgreSQL. Where there is none and it can't be installed, postgres.sh says so, and tests that need it are skipped.
suite-postgres: export DEVCLUSTER_BIN := $(CURDIR)/bin/devcluster
suite-postgres:
	@POSTGRES_PROGRAMS=$$(hack/postgres.sh || echo none) $(SUITE) -name postgres -C examples/postgres -- $(QUICK) $(ONE) $(call of_programs,devcluster)

suite-bench:
	@$(SUITE) -name bench -C bench -- $(QUICK) $(ONE) $(call of_programs,devcluster)

suite-gen suite-image suite-deploy suite-monitoring suite-suites suite-purity: suite-%:
	@$(SUITE) -name $* -C tools/$* -- $(QUICK) $(call of_files,charts config docs go.mod .dockerignore cmd/armature/internal/scaffold)

# What tests run of other modules is built before them: the first time it takes minutes, which no test should wait for.
released-tools:
	@for tool in deploy:helm deploy:kustomize helm3:helm certmanager:certmanager; do \
		echo "go tool $${tool#*:} of tools/$${tool%:*}"; go -C tools/$${tool%:*} tool -n $${tool#*:} >/dev/null || exit 1; done

e2e: ## Test end to end on nodes that run containers: the image, the chart, and what can go wrong; needs Linux and root
	@hack/e2e.sh

test-ui: build bin/suites ## Open the page of armature ui in a browser: each screen on a cluster, and 10,000 nodes; installs Chromium if it can
	@hack/chromium.sh >/dev/null
	+@$(call run_suites,ui)

test-nodes: ## Run devcluster's tests of nodes with containers; needs Linux and root; not part of test
	@hack/needs-of-nodes.sh run
	@$(MAKE) --no-print-directory nodes
	go -C devcluster/cmd/devcluster test $(QUICK) -tags nodes -timeout 20m -run TestContainers $(call of_programs,nodes/*) .

test-long: build released-tools bin/suites ## Run what takes minutes by its nature in its full size: properties, fuzz, and tests that ask for it
	@hack/test-long.sh

coverage: build bin/suites ## Print which part of builder, operators and dsoi the tests run, by package; fail where it is too little
	@hack/coverage.sh

fuzz: ## Search for input of a tenant that is read wrongly or controls a terminal, and for decisions of builder that differ from the API server's; 30 s each
	@hack/fuzz.sh $(or $(FUZZTIME),30s)

check: ## Look over what has changed since main: vet, lint and unit tests of these packages
	@hack/check.sh

bin/purity: $(wildcard tools/purity/*.go tools/purity/analyzer/*.go) tools/purity/go.mod
	go build -C tools/purity -o $(CURDIR)/$@ .

lint: bin/purity ## Run golangci-lint in each module, and look for Plans that aren't pure
	go vet -vettool=$(CURDIR)/bin/purity ./operators/... ./dsoi/... ./examples/... ./compat/...
	go -C examples/postgres vet -vettool=$(CURDIR)/bin/purity ./...
	@set -e; for module in $(filter-out tools/helm3 tools/apidiff,$(MODULES)); do echo "golangci-lint run in $$module"; \
		(cd $$module && $(LINT) run --allow-parallel-runners --config=$(CURDIR)/.golangci.yml ./...); done

generate: ## Write generated code, CRDs and the reference again, and the chart's copies of what is in config
	go generate ./api/... ./examples/...
	go -C examples/postgres generate ./...
	go run -C tools/gen ./reference ../../config/crd ../../docs/reference
	rm -f charts/armature/files/*/*.yaml
	cp config/crd/*.yaml charts/armature/files/crds/
	cp config/rbac/{operator,manager,metrics,kinds}-*.yaml config/rbac/webhook/webhook-*.yaml charts/armature/files/rbac/

ui: ## Build the page of armature ui from ui/web into ui/assets; needs Node
	cd ui/web && npm ci --ignore-scripts --no-audit --no-fund && npm run --silent check && npm run --silent build

check-ui: ui ## Fail if the built page in ui/assets is not what its sources make
	@test -z "$$(git status --porcelain -- ui/assets ui/web)" || { git status --short -- ui/assets ui/web; echo "ui/assets is stale: run make ui and commit"; exit 1; }

check-generated: generate ## Fail if something generated is not what it would be now
	@git diff --exit-code -- api charts config examples docs/reference || { echo "generated files are stale: run make generate and commit"; exit 1; }
	@test -z "$$(git status --porcelain -- api charts config examples docs/reference)" || { git status --short -- api charts config examples docs/reference; echo "generated files are not committed"; exit 1; }

tidy: ## Run go mod tidy in each module
	@set -e; for module in $(MODULES); do go -C $$module mod tidy; done

check-tidy: ## Fail if a go.mod is not tidy, or if modules differ in what both compile
	@set -e; for module in $(MODULES); do echo "go -C $$module mod tidy -diff"; go -C $$module mod tidy -diff; done
	@hack/align.sh -check

api-changes: ## Print what has changed in the exported names since the last release, or since main
	@hack/api-changes.sh

clean: ## Remove what was built
	rm -rf bin dist
