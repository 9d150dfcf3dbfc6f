#!/usr/bin/env bash
# stress.sh [-n TIMES] [-j LOOPS] [-o DIR] PACKAGE [FLAG OF THE TEST BINARY...]: runs the tests of a package TIMES times (10) beside
# LOOPS busy loops (4), which take the time away that a slow machine hasn't got. It prints how many of the runs passed, keeps
# the output of those that failed in DIR (dist/stress), and fails if one did. The test binary is built once.
#
#   hack/stress.sh test/integration/jobflow
#   hack/stress.sh -n 50 builder -run 'TestDrift$'
#   RACE= hack/stress.sh -j 8 devcluster/cmd/devcluster/internal/localnode   # without the race detector, which is used if there is a C compiler
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
times=10 loops=4 out=dist/stress
while getopts n:j:o: option; do
  case $option in
    n) times=$OPTARG ;;
    j) loops=$OPTARG ;;
    o) out=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
package=${1#./}
package=${package#github.com/armature-dev/armature/}
shift
[ -d "$package" ] || { echo "stress.sh: there is no directory $package" >&2; exit 2; }

# Flags of go test are those of the test binary without "test.".
flags=()
for flag; do
  case $flag in
    -test.* | [!-]*) flags+=("$flag") ;;
    -run* | -skip* | -v | -v=* | -short* | -count* | -timeout* | -parallel* | -failfast* | -cpu*) flags+=("-test.${flag#-}") ;;
    *) flags+=("$flag") ;; # its own, such as -rapid.checks=1000
  esac
done

mkdir -p "$out"
out=$(cd "$out" && pwd)
name=${package//\//-}
rm -f "$out/$name".*
race=${RACE--race}
command -v "$(go env CC)" >/dev/null || race=

loopers=()
leave() {
  trap - EXIT INT TERM
  [ ${#loopers[@]} = 0 ] || kill "${loopers[@]}" 2>/dev/null || true
  rm -f "$out/$name.test"
}
trap leave EXIT
trap 'exit 130' INT TERM

echo "Building the tests of $package"
# shellcheck disable=SC2086 # no flag, if there is no race detector
go -C "$package" test -vet=off -c $race -o "$out/$name.test" .
[ -e "$out/$name.test" ] || { echo "stress.sh: $package has no tests" >&2; exit 2; }

for ((i = 0; i < loops; i++)); do
  (while :; do :; done) &
  loopers+=($!)
done

passed=0
for ((i = 1; i <= times; i++)); do
  start=$SECONDS
  log=$out/$name.$i.log
  if (cd "$package" && "$out/$name.test" -test.timeout=30m -test.paniconexit0 -test.v ${flags[@]+"${flags[@]}"}) >"$log" 2>&1; then
    passed=$((passed + 1))
    ran=$(grep -c '^=== RUN' "$log" || true)
    rm "$log"
    echo "run $i of $times passed in $((SECONDS - start)) s, $ran tests"
    [ "$ran" != 0 ] || { echo "stress.sh: no test ran" >&2; exit 1; }
  else
    echo "run $i of $times FAILED in $((SECONDS - start)) s: $log"
    grep -E '^ *--- FAIL|^panic:|^WARNING: DATA RACE' "$log" || tail -n 5 "$log"
  fi
done
echo "$package: $passed of $times runs passed beside $loops busy loops"
[ "$passed" = "$times" ]
