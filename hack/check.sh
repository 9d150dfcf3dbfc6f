#!/usr/bin/env bash
# check.sh: what make check does: in each module, lint and the unit tests of the packages that have changed since main, committed or
# not, and vet of these and of those that import them. Tests that start a cluster are left to make test. CHECK_BASE names
# another commit than main to compare with.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
lint() { go tool -modfile="$root/tools/lint/go.mod" golangci-lint run --allow-parallel-runners --config="$root/.golangci.yml" "$@"; }
step() { printf '==> %s\n' "$*"; }

base=HEAD
for main in ${CHECK_BASE:-origin/main main}; do
  if base=$(git merge-base "$main" HEAD 2>/dev/null); then break; fi
  base=HEAD
done
files=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
[ -n "$files" ] || { echo "nothing has changed since $base"; exit 0; }

# above prints the nearest directory, from this one up, for which a test holds.
above() { local d=$1; until "$2" "$d"; do [ "$d" != . ] || return 1; d=$(dirname "$d"); done; echo "$d"; }
is_module() { [ -e "$1/go.mod" ]; }
is_package() { compgen -G "$1/*.go" >/dev/null && [[ /$1/ != */testdata/* ]]; }

# The packages, as module and directory; what is beside or below a package (testdata, templates) is of it.
packages=$(while IFS= read -r file; do
  case $file in *.md | *.sh) continue ;; esac
  package=$(above "$(dirname "$file")" is_package) || continue
  module=$(above "$package" is_module)
  [ "$module" = "$(above "$(dirname "$file")" is_module)" ] || [[ $file = */testdata/* ]] || continue
  echo "$module $package"
done <<<"$files" | sort -u)

for module in $(cut -d' ' -f1 <<<"$packages" | uniq); do
  changed=()
  while read -r in package; do
    [ "$in" = "$module" ] || continue
    if [ "$module" = . ]; then changed+=("./$package"); else changed+=("./${package#"$module"}"); fi
  done <<<"$packages"
  cd "$root/$module"
  names=$(go list -tags e2e,nodes "${changed[@]}")
  uses=$(go list -tags e2e,nodes -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}} ' ./...)
  importers=$(while IFS= read -r name; do grep -F " $name " <<<"$uses" | cut -d' ' -f1 || true; done <<<"$names")

  step "$module: vet of $(wc -l <<<"$names" | xargs) packages that have changed, and of those that import them"
  # shellcheck disable=SC2086 # lists of packages
  go vet -tags e2e,nodes $names $importers
  step "$module: lint"
  lint "${changed[@]}"

  # What starts a cluster says so by what it imports, or is one.
  units=() left=()
  while IFS= read -r name; do
    case $(grep "^$name " <<<"$uses") in
      *armature/devcluster/cmd/devcluster\ * | *armature/test/testcluster\ * | *armature/bench/internal/lab\ *) left+=("$name") ;;
      *) units+=("$name") ;;
    esac
  done <<<"$names"
  [ ${#left[@]} = 0 ] || step "$module: tests that start a cluster are left to make test: ${left[*]}"
  if [ ${#units[@]} -gt 0 ]; then
    step "$module: unit tests"
    go test -vet=off "${units[@]}"
  fi
done
cd "$root"

if grep -q '\.md$' <<<"$files"; then
  step "docs"
  go test -vet=off ./test/docs
fi
for script in $(grep '\.sh$' <<<"$files" || true); do
  [ ! -e "$script" ] || bash -n "$script"
done
echo "ok"
