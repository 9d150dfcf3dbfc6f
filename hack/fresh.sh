#!/usr/bin/env bash
# fresh.sh [TARGET...]: runs the README's two commands, make demo and make test (or these targets), as on a machine that has never
# seen Armature: in a fresh clone of the last commit, with empty module and build caches, and a HOME and a TMPDIR of its own. It
# prints how long each took, keeps their output in dist/fresh, removes the rest, and fails if one failed.
#
# It needs Go, make, git, what Go downloads modules with, and 20 GB below $TMPDIR (/tmp); no root. It takes most of an hour on 2 cores.
# Of the environment it keeps how the network and Go's module proxy are reached, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
[ $# -gt 0 ] || set -- demo test

out=$root/dist/fresh
if ! { mkdir -p "$out" && [ -w "$out" ]; } 2>/dev/null; then # a tree of another user
  out=$(mktemp -d "${TMPDIR:-/tmp}/armature-fresh-output.XXXXXX")
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/armature-fresh.XXXXXX")
leave() {
  status=$?
  trap - EXIT INT TERM
  chmod -R u+w "$dir" 2>/dev/null || true # the module cache is read-only
  rm -rf "$dir"
  exit "$status"
}
trap leave EXIT
trap 'exit 130' INT TERM
mkdir "$dir/home" "$dir/tmp"

# A clone that belongs to another user is as good.
printf '[safe]\n\tdirectory = *\n' >"$dir/gitconfig"
commit=$(GIT_CONFIG_GLOBAL=$dir/gitconfig git rev-parse HEAD)
GIT_CONFIG_GLOBAL=$dir/gitconfig git clone --quiet --no-local --no-checkout "$root" "$dir/armature"
GIT_CONFIG_GLOBAL=$dir/gitconfig git -C "$dir/armature" -c advice.detachedHead=false checkout --quiet "$commit"
if [ -n "$(GIT_CONFIG_GLOBAL=$dir/gitconfig git status --porcelain)" ]; then
  echo "fresh.sh: what isn't committed is not in the clone" >&2
fi

# What go env -w has set is in the old HOME, so it is handed on.
environment=(HOME="$dir/home" TMPDIR="$dir/tmp" PATH="$PATH")
for name in GOPROXY GONOPROXY GOPRIVATE GOSUMDB GONOSUMDB GOINSECURE GOVCS GOFLAGS GOTOOLCHAIN; do
  environment+=("$name=$(go env "$name")")
done
for name in LANG LC_ALL TERM USER LOGNAME HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR; do
  [ -z "${!name+set}" ] || environment+=("$name=${!name}")
done

failed=()
times=()
for target; do
  printf '\n==> make %s, at %s, in a fresh clone\n' "$target" "${commit:0:12}"
  start=$SECONDS
  outcome=passed
  if ! env -i "${environment[@]}" make -C "$dir/armature" "$target" 2>&1 | tee "$out/${target//\//-}.log"; then
    outcome=FAILED
    failed+=("make $target")
  fi
  times+=("$(printf 'make %-12s %s in %d min %02d s' "$target" "$outcome" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))")
done

printf '\n'
printf '%s\n' "${times[@]}" "on disk: $(du -sh "$dir" | cut -f1); their output: $out" | tee "$out/times.txt"
# Clusters have their directory in their flags. Without pgrep, which not every machine has, this isn't looked at.
if ! command -v pgrep >/dev/null; then
  echo "fresh.sh: without pgrep (Debian: procps) it isn't known whether something is left running" >&2
elif left=$(pgrep -af "$dir/"); then
  printf 'fresh.sh: still running:\n%s\n' "$left" >&2
  failed+=("what is left running")
fi
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}" >&2
  exit 1
fi
