#!/usr/bin/env bash
# manager-of.sh COMMIT DIR: builds the manager of a commit as DIR/armature, with its CRDs in DIR/crd. It does nothing if DIR has them.
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(git rev-parse --verify --quiet "$1^{commit}") ||
  { echo "manager-of.sh: there is no commit $1 in this clone; a shallow clone has few: git fetch --unshallow" >&2; exit 2; }
mkdir -p "$2"
dir=$(cd "$2" && pwd)
[ "$(cat "$dir/commit" 2>/dev/null)" != "$commit" ] || exit 0
tree=$(mktemp -d)
trap 'git worktree remove --force "$tree"' EXIT
git worktree add --quiet --detach "$tree" "$commit"
rm -rf "$dir/crd"
go build -C "$tree" -o "$dir/armature" ./cmd/armature
cp -r "$tree/config/crd" "$dir/crd"
echo "$commit" >"$dir/commit"
