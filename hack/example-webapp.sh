#!/usr/bin/env bash
# Runs the example operator on a cluster of its own: an app comes up, its greeting changes, it scales down.
# Leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/apply-crds.sh

dir=$(mktemp -d "${TMPDIR:-/tmp}/armature-webapp.XXXXXX")
operator=
leave() {
  trap - EXIT INT TERM
  if [ -n "$operator" ]; then kill "$operator" 2>/dev/null || true; wait "$operator" 2>/dev/null || true; fi
  bin/devcluster down --dir "$dir/cluster" >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap leave EXIT
trap 'exit 130' INT TERM

export PATH="$PWD/bin:$PATH" KUBECONFIG="$dir/cluster/kubeconfig" # the nodes find the command webapp in it
step() { printf '\n==> %s\n' "$*"; }
kubectl() { devcluster kubectl --kubeconfig "$KUBECONFIG" "$@"; }
fail() { echo "$*; the end of the operator's log:" >&2; tail -n 20 "$dir/operator.log" >&2; exit 1; }

# until_true tries a command for ten minutes.
until_true() { local end=$((SECONDS + 600)); until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done; }

# ask prints what each server answers.
ask() {
  local ip
  for ip in $(kubectl get pods -o 'jsonpath={.items[*].status.podIP}'); do
    (exec 3<>"/dev/tcp/$ip/8080" && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && tail -n 1 <&3) || true
  done
}
greets() { ask | grep -q "^$1"; }

step "A Kubernetes cluster with one node, in one binary (bin/devcluster up)"
devcluster up --detach --dir "$dir/cluster" --nodes 1 --timeout 8m

step "The kind WebApp (kubectl apply --server-side -f examples/webapp/config)"
apply_crds examples/webapp/config

step "The operator (bin/webapp)"
bin/webapp >"$dir/operator.log" 2>&1 &
operator=$!
echo "running as process $operator"

step "An app (kubectl apply -f examples/webapp/sample.yaml)"
# macOS has one loopback address for all pods, so one server.
budget=poddisruptionbudget/hello
[ "$(uname)" != Darwin ] || budget=
if [ -z "$budget" ]; then sed 's/replicas: 2/replicas: 1/' examples/webapp/sample.yaml; else cat examples/webapp/sample.yaml; fi | kubectl apply -f -
kubectl wait --for=condition=Ready --timeout=10m webapp/hello || fail "the app did not become ready"
kubectl get webapp/hello configmap/hello deployment/hello service/hello $budget
ask

step "Another greeting (kubectl patch webapp/hello ... greeting: Ahoy)"
kubectl patch webapp/hello --type=merge -p '{"spec":{"greeting":"Ahoy"}}'
until_true greets Ahoy || fail "the greeting did not change"
ask

step "A child deleted by hand comes back (kubectl delete service/hello)"
kubectl delete service/hello
until_true kubectl get service/hello || fail "the service did not come back"
kubectl get service/hello

step "One server needs no disruption budget: it is pruned (kubectl patch webapp/hello ... replicas: 1)"
kubectl patch webapp/hello --type=merge -p '{"spec":{"replicas":1}}'
[ -z "$budget" ] || kubectl wait --for=delete --timeout=10m $budget
kubectl wait --for=condition=Ready --timeout=10m webapp/hello || fail "the app did not become ready"

step "What the operator told (kubectl get events)"
kubectl get events --field-selector=involvedObject.kind=WebApp \
  -o custom-columns=REASON:.reason,NOTE:.message

step "Leaving: the operator and the cluster are stopped, their data is removed"
