#!/usr/bin/env bash
# Gives the modules of this repository the same versions of what more than one of them compiles, so that it is compiled once: with
# another version of golang.org/x/net, all of Kubernetes' libraries are compiled again.
#
#   hack/align.sh          requires the newest of the versions in each of them
#   hack/align.sh -check   fails if there is a difference, and says which
set -euo pipefail
cd "$(dirname "$0")/.."

# Not all: devcluster requires the oldest versions that serve the tests of others, and Prometheus in tools/monitoring needs an older Kubernetes.
modules=(. bench devcluster/cmd/devcluster devcluster/nodes examples/postgres tools/certmanager tools/deploy tools/gen tools/helm3)

# versions prints "MODULE VERSION DIRECTORY" for what each of the modules compiles.
versions() {
  for dir in "${modules[@]}"; do
    # A replaced module has the version of what replaces it. Of this repository's modules there is no version.
    (cd "$dir" && go list -deps -test -f "{{with .Module}}{{if .Replace}}{{.Path}} {{.Replace.Version}} $dir
      {{- else if .Version}}{{.Path}} {{.Version}} $dir{{end}}{{end}}" ./... tool 2> >(grep -v 'matched no packages' >&2)) | awk 'NF == 3' | sort -u
  done
}

# outdated prints "DIRECTORY MODULE VERSION NEWEST" for each version that isn't the newest of its module.
outdated() {
  # To sort, a tilde is before the end of a version, as -rc.1 is.
  versions | awk '{ v = $2; gsub("-", "~", v); print $1, $2, $3, v }' | sort -k1,1 -k4,4V | awk '
    { at[NR] = $0; newest[$1] = $2 }
    END { for (i = 1; i <= NR; i++) { split(at[i], f, " "); if (f[2] != newest[f[1]] && f[2] != "") print f[3], f[1], f[2], newest[f[1]] } }' | sort
}

if [ "${1:-}" = -check ]; then
  found=$(outdated)
  [ -z "$found" ] && exit
  echo "modules differ in versions, so that much is compiled twice: run hack/align.sh" >&2
  echo "$found" | while read -r dir module version newest; do echo "$dir/go.mod: $module is $version, elsewhere $newest"; done >&2
  exit 1
fi

# To require a newer version may raise others.
found=$(outdated)
while [ -n "$found" ]; do
  for dir in $(echo "$found" | awk '{print $1}' | uniq); do
    (cd "$dir" && go get $(echo "$found" | awk -v dir="$dir" '$1 == dir { print $2 "@" $4 }') && go mod tidy)
  done
  found=$(outdated)
done
