#!/usr/bin/env bash
# unit-packages.sh race|other: prints the packages whose tests need no cluster: those where goroutines meet, which start them, wait
# for them or share something with them, or the others. In the others the race detector would find nothing, and take most of the time.
# Plans (operators, dsoi) are others: races are looked for where they run, in test-integration.
set -euo pipefail
cd "$(dirname "$0")/.."
meet='^\s*(defer )?go [a-zA-Z(]|\.Go\(|\.Parallel\(|\bchan\b|"sync(/atomic)?"|"golang\.org/x/sync/'
go list -f '{{.Dir}} {{.ImportPath}}' ./... | grep -v /test/ | while read -r dir package; do
  case $package in
    */operators/* | */dsoi*) kind=other ;;
    *) if grep -qE "$meet" "$dir"/*.go; then kind=race; else kind=other; fi ;;
  esac
  if [ "$kind" = "$1" ]; then echo "$package"; fi
done
