#!/usr/bin/env bash
# unit-packages.sh race|other: prints the packages whose tests need no cluster: those that start goroutines, or whose tests do, by
# themselves or as servers and managers; and those with unsafe, whose pointers the race detector checks as well. Or the others, in which
# it would find nothing, and take most of the time. Plans (operators, dsoi) and builder itself are others: races are looked for where
# they run, in test-integration and in the servers and managers of tests. With the race detector builder's tests take 17 times as long;
# make test-long does that. buildertest's explorations run one step at a time; its server is used side by side by tests of other packages.
# The cases of conformance run beside each other, each on a server of its own; the tests of recordcmd, newcmd and cmd/armature run programs.
# The simulation of fairshare takes minutes with it, and is one goroutine.
set -euo pipefail
cd "$(dirname "$0")/.."
starts='^\s*(defer )?go [a-zA-Z(]|\.Go\(|\.Parallel\(|AfterFunc\(|synctest\.|httptest\.New(TLS|Unstarted)?Server|"golang\.org/x/sync/|"unsafe"'
go list -f '{{.Dir}} {{.ImportPath}}' ./... | grep -v /test/ | while read -r dir package; do
  case $package in
    */armature/builder | */operators/* | */dsoi* | */buildertest | */buildertest/conformance | */buildertest/story) kind=other ;;
    */recordcmd | */newcmd | */cmd/armature | */fairshare) kind=other ;;
    *) if grep -qE "$starts" "$dir"/*.go; then kind=race; else kind=other; fi ;;
  esac
  if [ "$kind" = "$1" ]; then echo "$package"; fi
done
