#!/usr/bin/env bash
# api-changes.sh [COMMIT]: prints what has changed in the exported names of the module's packages since a commit: the last release,
# or, before there is one, what main was before this change. It judges nothing: before v0.1.0 every rename is free.
set -euo pipefail
cd "$(dirname "$0")/.."

module=$(go list -m)
base=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$base" ]; then # of a branch, where it left main; of main, the commit before
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || { [ "$base" = "$(git rev-parse HEAD)" ] && git diff --quiet HEAD -- '*.go'; }; then
    base=HEAD^
  fi
fi
if ! base=$(git rev-parse --verify --quiet "$base^{commit}"); then
  echo "api-changes.sh: there is no commit to compare with" >&2
  exit 0
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/armature-api.XXXXXX")
trap 'rm -rf "$dir"' EXIT
git archive --prefix=before/ "$base" | tar -x -C "$dir"

apidiff=$(go tool -C tools/apidiff -n apidiff)
# What it says of internal packages and of commands is no news.
record() { (cd "$1" && "$apidiff" -m -w "$2" "$module") 2>"$dir/log" || { cat "$dir/log" >&2; exit 1; }; }
record "$dir/before" "$dir/before.api"
record . "$dir/now.api"
echo "Exported names of $module since $(git show --no-patch --format='%h (%s)' "$base"):"
"$apidiff" -m "$dir/before.api" "$dir/now.api" 2>/dev/null | awk '!seen[$0]++' >"$dir/changes" # generic types come once for each use
if [ -s "$dir/changes" ]; then cat "$dir/changes"; else echo "nothing has changed"; fi
