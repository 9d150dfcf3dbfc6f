#!/usr/bin/env bash
# Runs the example of a distributed store on a cluster of its own: install, write, a change of configuration in order
# under load, an image that can't start, scaling under load, removal. Leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/apply-crds.sh

dir=$(mktemp -d "${TMPDIR:-/tmp}/armature-kvstore.XXXXXX")
operator=
load=
leave() {
  trap - EXIT INT TERM
  for pid in $load $operator; do kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; done
  bin/devcluster down --dir "$dir/cluster" >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap leave EXIT
trap 'exit 130' INT TERM

export PATH="$PWD/bin:$PATH" KUBECONFIG="$dir/cluster/kubeconfig" # the nodes find the program kvstore in it
step() { printf '\n==> %s\n' "$*"; }
kubectl() { devcluster kubectl --kubeconfig "$KUBECONFIG" "$@"; }
fail() { echo "$*; the store, and the end of the operator's log:" >&2; kubectl get kvstore/demo -o yaml >&2; tail -n 20 "$dir/operator.log" >&2; exit 1; }
ready() { kubectl wait --for=condition=Ready --timeout=10m kvstore/demo >/dev/null || fail "the store did not become ready"; }
# until_true tries a command for ten minutes.
until_true() {
  local what=$1 end=$((SECONDS + 600)); shift
  until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || fail "$what"; sleep 0.2; done
}
is() { [ "$(kubectl get "$1" -o "jsonpath={$2}")" = "$3" ]; }
# load starts to read all the time, as many at a time as is said; unload ends that, and says how many reads were lost.
load() { kvstore load default demo "$1" 2h >"$dir/load" 2>&1 & load=$!; }
unload() {
  kill "$load" && wait "$load" 2>/dev/null || true
  load=
  cat "$dir/load"
  grep -q ' 0 lost' "$dir/load" || fail "reads were lost"
}
# told shows what the operator has told of the store since a time.
told() {
  kubectl get events --field-selector=involvedObject.kind=KVStore --sort-by=.metadata.creationTimestamp \
    -o 'jsonpath={range .items[*]}{.metadata.creationTimestamp}{"\t"}{.reason}{"\t"}{.message}{"\n"}{end}' |
    awk -F '\t' -v since="$1" '$1 >= since && $2 ~ /NodeType|Rollout/ {printf "%-18s %s\n", $2, $3}'
}
spec() { kubectl patch kvstore/demo --type=json -p "$1"; }

step "A Kubernetes cluster with two nodes, in one binary (bin/devcluster up)"
devcluster up --detach --dir "$dir/cluster" --nodes 2 --timeout 8m

step "The kinds KVStore and KVStoreScaling, a storage class, and volumes (kubectl apply -f examples/kvstore/config ...)"
apply_crds examples/kvstore/config
{
  printf 'apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: kvstore}\nprovisioner: kubernetes.io/no-provisioner\n'
  for i in 1 2 3 4 5; do
    printf -- '---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: kvstore-%s}\n' "$i"
    printf 'spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: kvstore, hostPath: {path: %s/volume-%s}}\n' "$dir" "$i"
  done
} | kubectl apply -f - >/dev/null

step "The operator (bin/kvstore)"
KVSTORE_PROGRAMS="$PWD/bin" bin/kvstore --metrics-bind-address=0 --health-probe-bind-address=0 >"$dir/operator.log" 2>&1 &
operator=$!
echo "running as process $operator"

step "A store (kubectl apply -f examples/kvstore/sample.yaml)"
kubectl apply -f examples/kvstore/rbac.yaml -f examples/kvstore/sample.yaml
until_true "the operator has not seen the store" is kvstore/demo .status.observedGeneration 1
ready
kubectl get kvstore/demo
kubectl get pods -o custom-columns=NAME:.metadata.name,STATUS:.status.phase,IP:.status.podIP,NODE:.spec.nodeName

step "Data (bin/kvstore put default demo greeting Ahoy)"
kvstore put default demo greeting Ahoy
echo "greeting is $(kvstore get default demo greeting)"

step "Another configuration, under load: node types are replaced in order, and no read is lost"
load 4
began=$(date -u +%FT%TZ)
spec '[{"op":"replace","path":"/spec/appConfigGroup/0/commonRuntimeProperties","value":"replicas=2\nmotto=ahoy\n"}]'
until_true "the upgrade did not begin" is kvstore/demo .status.phase Upgrading
until_true "the upgrade did not end" is kvstore/demo .status.phase Running
ready
kubectl get kvstore/demo -o 'jsonpath={.status.upgrade}{"\n"}'
told "$began"
unload

step "An image that can't start: the upgrade halts, and says which pod and why; gateways stay as they are"
load 4
spec '[{"op":"replace","path":"/spec/k8sConfigGroup/1/image","value":"kvstore-broken:v2"},{"op":"replace","path":"/spec/k8sConfigGroup/2/image","value":"kvstore:v2"}]'
until_true "the upgrade did not halt" is kvstore/demo .status.phase Halted
kubectl get kvstore/demo
kubectl get kvstore/demo -o 'jsonpath={.status.conditions[?(@.type=="Stalled")].message}{"\n"}'
kubectl get deployment/demo-gateway -o 'jsonpath={.spec.template.spec.containers[0].image}{"\n"}' | grep -q '^kvstore:v1$' || fail "the gateways were changed"

step "The image is fixed"
spec '[{"op":"replace","path":"/spec/k8sConfigGroup/1/image","value":"kvstore:v2"}]'
until_true "the upgrade did not go on" is kvstore/demo .status.phase Running
ready
kubectl get kvstore/demo
unload

step "Scaling under load (kubectl apply -f examples/kvstore/scaling.yaml)"
coordinator=$(kubectl get pods -l dsoi.armature.dev/node-type=coordinator -o 'jsonpath={.items[0].status.podIP}')
load 8
sed "s/COORDINATOR/$coordinator/" examples/kvstore/scaling.yaml | kubectl apply -f -
until_true "the store was not scaled" is statefulset/demo-storage .spec.replicas 5
kubectl get kvstorescaling/demo
until_true "the new storage nodes are not ready" is statefulset/demo-storage .status.readyReplicas 5
unload
until_true "the store did not shrink without load" is statefulset/demo-storage .spec.replicas 3
until_true "surplus storage nodes are still there" is statefulset/demo-storage .status.replicas 3
kubectl get events --field-selector=involvedObject.kind=KVStoreScaling,reason=Scaled --sort-by=.metadata.creationTimestamp \
  -o 'jsonpath={range .items[*]}{.reason}{"  "}{.message}{"\n"}{end}'
echo "greeting is $(kvstore get default demo greeting)"

step "Removal (kubectl delete kvstore/demo): its data is kept"
kubectl delete kvstorescaling/demo kvstore/demo
until_true "pods are still there" sh -c "[ -z \"\$(devcluster kubectl --kubeconfig $KUBECONFIG get pods -o name)\" ]"
kubectl get persistentvolumeclaims -o custom-columns=NAME:.metadata.name,STATUS:.status.phase,VOLUME:.spec.volumeName,CAPACITY:.status.capacity.storage

step "Leaving: the operator and the cluster are stopped, their data is removed"
