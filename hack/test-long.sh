#!/usr/bin/env bash
# test-long.sh [PACKAGE...]: what make test-long does. Properties run with ten times their cases, and tests that ask internal/testsize
# in their full size. Without the name of a package (operators/fluxjob/internal/queue) all of them do, and then the fuzz tests.
set -euo pipefail
cd "$(dirname "$0")/.."
export ARMATURE_LONG=1
out=$PWD/dist/test-long
rm -rf "$out"

suites=() status=0
# suite NAME DIR PACKAGES FLAG...
suite() {
  local name=$1 dir=$2 packages=$3
  shift 3
  [ -n "$packages" ] || return 0
  suites+=("$name")
  bin/suites run -out "$out" -name "$name" -C "$dir" -packages "$packages" -- -vet=off -ldflags=-s "$@" || status=1
}

# using DIR PATTERN prints the packages below DIR, of its module, with a test that matches. A package that can't be loaded is an error.
using() {
  local files
  files=$(cd "$1" && go list -f '{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' \
    "${packages[@]}") || return 1
  { grep . <<<"$files" | xargs grep -lE "$2" | xargs -rn 1 dirname | sort -u; } || true # none matches
}
packages=(./...)
[ $# = 0 ] || packages=("${@/#/./}")

# A property below test/ has its size from testsize: a case of it is work for an API server.
rapid=$(using . '"pgregory.net/rapid"')
rapid=$(grep -v "^$PWD/test/" <<<"$rapid" || true)
sized=$(using . 'internal/testsize"|ARMATURE_LONG')
sized=$(grep -vxF "${rapid:-nothing}" <<<"$sized" || true)
suite properties . "$(xargs <<<"$rapid")" -timeout 30m -rapid.checks=1000
suite sized . "$(xargs <<<"$sized")" -timeout 30m
if [ $# = 0 ]; then
  race=
  if command -v "$(go env CC)" >/dev/null; then race=-race; fi
  suite builder-race . "./builder ./builder/buildertest/..." $race -timeout 30m
  bench=$(using bench 'internal/testsize"|ARMATURE_LONG')
  suite bench-sized bench "$(xargs <<<"$bench")" -timeout 30m
  for fuzz in $(hack/fuzz.sh list); do
    IFS=: read -r name dir package <<<"$fuzz"
    suite "$name" "$dir" "$package" -run='^$' -fuzz="^$name\$" -fuzztime="${FUZZTIME:-4m}" # an hour for all of them
  done
fi
[ ${#suites[@]} -gt 0 ] || { echo "test-long.sh: nothing there has a full size" >&2; exit 2; }
bin/suites report -out "$out" "${suites[@]}" || status=1
exit "$status"
