#!/usr/bin/env bash
# coverage.sh: what make coverage does. It runs the suites that test packages in their own process, without a cluster (race and unit) and
# with one (operators and integration), counts the statements of builder, operators and dsoi that they run, and prints them by package.
# The race detector is off: counters for it are slower, and it is of no use here. Programs that tests build or start aren't counted.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/dist/coverage
rm -rf "$out"
mkdir -p "$out/unit" "$out/integration"

# What has no function has no statement either.
all=(./builder/... ./operators/... ./dsoi/...)
measured=$(go list -f '{{.Dir}} {{.ImportPath}}' "${all[@]}" | while read -r dir package; do
  if find "$dir" -maxdepth 1 -name '*.go' -not -name '*_test.go' -exec grep -q '^func ' {} +; then echo "$package"; fi
done | xargs)

status=0
# suite NAME PACKAGES FLAG...
suite() {
  bin/suites run -out "$out" -name "$1" -packages "$2" -- -vet=off -ldflags=-s -cover \
    -coverpkg="$(IFS=,; echo "${all[*]}")" "${@:3}" -args -test.gocoverdir="$out/$1" || status=1
}
suite unit "$({ hack/unit-packages.sh race; hack/unit-packages.sh other; } | xargs)"
suite integration "$({ hack/integration-packages.sh operators; hack/integration-packages.sh integration; } | xargs)" -p 1 -timeout 30m

go tool covdata textfmt -i="$out/unit" -o "$out/unit.txt"
go tool covdata textfmt -i="$out/unit,$out/integration" -o "$out/all.txt"
bin/suites report -out "$out" unit integration || status=1
bin/suites coverage -packages "$measured" -gaps hack/coverage-gaps.txt -unit "$out/unit.txt" -both "$out/all.txt" || status=1
echo "Each line: go tool cover -html=dist/coverage/all.txt"
exit "$status"
