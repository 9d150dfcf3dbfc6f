#!/usr/bin/env bash
# Runs the example flow on a cluster of its own, shows it live, and leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/apply-crds.sh

dir=$(mktemp -d "${TMPDIR:-/tmp}/armature-demo.XXXXXX")
manager=
leave() {
  trap - EXIT INT TERM
  if [ -n "$manager" ]; then kill "$manager" 2>/dev/null || true; wait "$manager" 2>/dev/null || true; fi
  "${DEVCLUSTER_BIN:-bin/devcluster}" down --dir "$dir/cluster" >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap leave EXIT
trap 'exit 130' INT TERM

step() { printf '\n==> %s\n' "$*"; }
kubectl() { "${DEVCLUSTER_BIN:-bin/devcluster}" kubectl --kubeconfig "$dir/cluster/kubeconfig" "$@"; }

step "A Kubernetes cluster with three nodes, in one binary (bin/devcluster up)"
"${DEVCLUSTER_BIN:-bin/devcluster}" up --detach --dir "$dir/cluster" --node-names minikube,node-2,node-3 --timeout 8m
kubectl get nodes

step "Armature's kinds (kubectl apply --server-side -f config/crd)"
apply_crds config/crd

step "The operators (bin/armature manager)"
bin/armature manager --kubeconfig "$dir/cluster/kubeconfig" \
  --metrics-bind-address=0 --health-probe-bind-address=0 >"$dir/manager.log" 2>&1 &
manager=$!
echo "running as process $manager"

step "The flow (kubectl apply -f examples/jobflow/example.yaml)"
kubectl apply -f examples/jobflow/example.yaml

step "The flow as it runs (bin/armature watch jobflow/jobflow-example)"
if ! bin/armature watch --kubeconfig "$dir/cluster/kubeconfig" jobflow/jobflow-example; then
  echo "the flow did not succeed; the end of the manager's log:" >&2
  tail -n 20 "$dir/manager.log" >&2
  exit 1
fi

step "Its Jobs and its pods (kubectl get jobflows,jobs; kubectl get pods)"
kubectl wait --for=condition=Complete --timeout=5m jobs --all >/dev/null # a Job says so some time after its pods have ended
kubectl get jobflows,jobs
kubectl get pods --sort-by=.status.startTime \
  -o custom-columns=POD:.metadata.name,NODE:.spec.nodeName,STARTED:.status.containerStatuses[0].state.terminated.startedAt,ENDED:.status.containerStatuses[0].state.terminated.finishedAt

step "What one of its pods printed (kubectl logs job/jobflow-example-job5)"
kubectl logs job/jobflow-example-job5

step "Leaving: the manager and the cluster are stopped, their data is removed"
