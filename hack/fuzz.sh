#!/usr/bin/env bash
# fuzz.sh TIME: runs each fuzz test for so long (30s), also after one has failed. fuzz.sh list: prints NAME:MODULE:PACKAGE of each.
set -euo pipefail
cd "$(dirname "$0")/.."
# all prints the fuzz tests of the modules that have some.
all() {
  git grep -oE 'func Fuzz[A-Za-z]+' -- '*_test.go' | while IFS=: read -r file name; do
    dir=. package=./$(dirname "$file")
    if [[ $file == devcluster/cmd/devcluster/* ]]; then dir=devcluster/cmd/devcluster package=./${package#./devcluster/cmd/devcluster/}; fi
    echo "${name#func }:$dir:$package"
  done
}
if [ "${1:-}" = list ]; then
  all
  exit
fi
status=0
for fuzz in $(all); do
  IFS=: read -r name dir package <<<"$fuzz"
  go test -C "$dir" "$package" -run '^$' -fuzz "^$name\$" -fuzztime "${1:-30s}" || status=1
done
exit "$status"
