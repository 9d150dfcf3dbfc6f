#!/usr/bin/env bash
# Runs three FluxJobs on a quota of two on a cluster of its own, shows how the third waits, and leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/apply-crds.sh

dir=$(mktemp -d "${TMPDIR:-/tmp}/armature-demo-flux.XXXXXX")
manager=
leave() {
  trap - EXIT INT TERM
  if [ -n "$manager" ]; then kill "$manager" 2>/dev/null || true; wait "$manager" 2>/dev/null || true; fi
  bin/devcluster down --dir "$dir/cluster" >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap leave EXIT
trap 'exit 130' INT TERM

step() { printf '\n==> %s\n' "$*"; }
kubectl() { bin/devcluster kubectl --kubeconfig "$dir/cluster/kubeconfig" "$@"; }
fail() {
  echo "$1; the end of the manager's log:" >&2
  tail -n 20 "$dir/manager.log" >&2
  kubectl get fluxjobs,miniclusters,pods -o wide >&2 || true
  exit 1
}

step "A Kubernetes cluster with three nodes, in one binary (bin/devcluster up)"
bin/devcluster up --detach --dir "$dir/cluster" --node-names minikube,node-2,node-3 --timeout 8m

step "Armature's kinds and operators (kubectl apply --server-side -f config/crd; bin/armature manager)"
apply_crds config/crd >/dev/null
bin/armature manager --kubeconfig "$dir/cluster/kubeconfig" \
  --metrics-bind-address=0 --health-probe-bind-address=0 >"$dir/manager.log" 2>&1 &
manager=$!
echo "running as process $manager"

# Brokers need a pod network, which these nodes don't have, whether or not there is a flux on this machine.
example=examples/flux/three-plain.yaml
step "These nodes have no pod network: the leader of each MiniCluster runs the command itself (flux.disable)"

step "A queue for two MiniClusters at a time, and three jobs (kubectl apply -f $example)"
kubectl apply -f "$example"

step "The third waits (kubectl get fluxjobs)"
kubectl wait --for=jsonpath='{.status.position}'=1 --timeout=10m fluxjob/third >/dev/null || fail "the third job is not in line"
kubectl get fluxjobs
kubectl get fluxjob/third -o jsonpath='{range .status.conditions[?(@.type=="JobWaitingForResources")]}{.reason}: {.message}{"\n"}{end}'
kubectl get fluxsetup/two-at-a-time

step "When one of the others has ended, it runs"
kubectl wait --for=condition=JobRunning --timeout=10m fluxjob/third >/dev/null || fail "the third job does not run"
kubectl get fluxjobs
kubectl get pods -o custom-columns=POD:.metadata.name,NODE:.spec.nodeName,PHASE:.status.phase

step "All have succeeded (kubectl wait --for=condition=Succeeded fluxjobs --all)"
kubectl wait --for=condition=Succeeded --timeout=10m fluxjobs --all >/dev/null || fail "not all jobs succeeded"
kubectl get fluxjobs
kubectl get fluxsetup/two-at-a-time

step "What the third printed (kubectl logs job/third)"
kubectl logs job/third | tail -n 5

step "Leaving: the manager and the cluster are stopped, their data is removed"
