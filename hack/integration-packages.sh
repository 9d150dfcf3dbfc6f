#!/usr/bin/env bash
# integration-packages.sh operators|integration|programs: prints the packages below test/ that have tests. Those that run a manager in
# the process of the test are tested with the race detector: "operators" those of the operators, "integration" the others. "programs" run
# programs or nothing; in these it would find nothing, and take twice the time to link and more than that to run. Nor would it in the
# examples whose operators are Plans alone: what runs those is tested with it by the other suites, and the store that kvstore's pods run
# by its own tests.
set -euo pipefail
cd "$(dirname "$0")/.."
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}} {{.ImportPath}}{{end}}' ./test/... | while read -r dir package; do
  case $package in
    */integration/kvstore | */integration/torchjob | */integration/webapp) kind=programs ;;
    *) if ! grep -qE '\bNewManager\(' "$dir"/*.go; then kind=programs
      elif [ -d "operators/$(basename "$package")" ] || [[ $package == */tfjob ]]; then kind=operators
      else kind=integration; fi ;;
  esac
  if [ "$kind" = "$1" ]; then echo "$package"; fi
done
