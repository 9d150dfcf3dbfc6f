#!/usr/bin/env bash
# Records what the commands show, on a cluster of its own, as docs/recording-*.svg. Leaves nothing else behind.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/apply-crds.sh

dir=$(mktemp -d "${TMPDIR:-/tmp}/armature-recordings.XXXXXX")
manager=
leave() {
  trap - EXIT INT TERM
  if [ -n "$manager" ]; then kill "$manager" 2>/dev/null || true; wait "$manager" 2>/dev/null || true; fi
  "${DEVCLUSTER_BIN:-bin/devcluster}" down --dir "$dir/cluster" >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap leave EXIT
trap 'exit 130' INT TERM

export PATH="$PWD/bin:$PATH" KUBECONFIG="$dir/cluster/kubeconfig"
devcluster="${DEVCLUSTER_BIN:-bin/devcluster}"
kubectl() { "$devcluster" kubectl --kubeconfig "$KUBECONFIG" "$@"; }
go build -o "$dir/record" ./tools/record
# record NAME ROWS COMMAND...: the picture shows the command as it is typed.
record() { name=$1 rows=$2; shift 2; "$dir/record" -output "docs/recording-$name.svg" -title "$*" -columns 130 -rows "$rows" -- "$@"; }

project='armature new backup --kind Backup --group example.com && cd backup && make test'
"$dir/record" -output docs/recording-new.svg -title "$project" -columns 130 -rows 28 -- bash -c "cd '$dir' && $project"

"$devcluster" up --detach --dir "$dir/cluster" --node-names minikube,node-2,node-3 --timeout 8m
apply_crds config/crd >/dev/null
bin/armature manager --metrics-bind-address=0 --health-probe-bind-address=0 >"$dir/manager.log" 2>&1 &
manager=$!

record lint 12 armature lint -f test/docs/testdata/wrong.yaml || true
kubectl apply -f examples/jobflow/example.yaml
record watch 12 armature watch jobflow/jobflow-example
