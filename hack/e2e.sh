#!/usr/bin/env bash
# Tests Armature end to end, on nodes that run containers, as root on Linux: see test/e2e. The report is dist/e2e/report.txt
# and dist/e2e/junit.xml; after a failure, dist/e2e/logs has the logs of every part. What was built stays in bin/e2e, and what hasn't
# changed isn't built again.
#
#   hack/e2e.sh                       all of it, as make e2e does
#   hack/e2e.sh -run 'TestExample.*'  these tests only; flags are those of go test. Those of devcluster's nodes are left out.
#
# What it heeds in the environment:
#
#   PREVIOUS      the commit of the release to upgrade from, if not the newest tag v* before this commit
#   E2E_SEED      of the soak: what users do, and what goes wrong (default 1); E2E_SOAK is its time (default 4m; 10m or more before a release)
#   FLUX_IMAGE    an OCI or Docker archive of an image with flux and sh on its PATH: MiniClusters are run by it, too
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ]; then
  echo "make e2e: needs Linux and root: its nodes run containers" >&2
  exit 1
fi

step() { printf '\n==> %s\n' "$*"; }

# Flags of go test are those of the test binary without "test.".
flags=()
for flag; do
  case $flag in
    -run* | -skip* | -count* | -timeout* | -parallel* | -failfast*) flags+=("-test.${flag#-}") ;;
    *) flags+=("$flag") ;;
  esac
done

# The previous release is the newest tag before this commit. Until there is one, it is a commit from before the CRDs and
# roles got what they have now.
previous=${PREVIOUS:-$(git tag --list 'v*' --merged HEAD --no-contains HEAD --sort=-version:refname | head -n 1)}
previous=${previous:-1eb3f569d3b06ac19576aef24ff51f7121f77e54}
if ! git cat-file -e "$previous^{commit}" 2>/dev/null; then
  [ -z "${PREVIOUS:-}" ] || { echo "make e2e: PREVIOUS: this clone has no commit $PREVIOUS" >&2; exit 1; }
  echo "make e2e: the upgrade from the previous release is not tested: this clone has no commit $previous (git fetch --unshallow --tags)" >&2
  previous=
fi

missing=()
for package in iptables conntrack libseccomp-dev pkg-config gcc busybox; do
  dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  step "Debian packages: ${missing[*]}"
  apt-get update -q -o Acquire::Retries=3
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y -o Acquire::Retries=3 --no-install-recommends "${missing[@]}"
fi

hack/needs-of-nodes.sh build
hack/needs-of-nodes.sh run
make bin/devcluster nodes

out=$PWD/dist/e2e
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/tmp}/armature-e2e.XXXXXX")
cluster=$work/cluster
upgrades=
leave() {
  status=$?
  trap - EXIT INT TERM
  [ -z "$upgrades" ] || kill "$upgrades" 2>/dev/null || true
  if [ "$status" != 0 ] && [ -d "$cluster/logs" ]; then
    mkdir -p "$out/logs"
    cp "$cluster"/logs/*.log "$out/logs/"
    for node in "$cluster"/nodes/*; do
      mkdir -p "$out/logs/$(basename "$node")"
      cp -r "$node"/var/log/. "$out/logs/$(basename "$node")/" || true
    done
    echo "the logs of every part are in $out/logs"
  fi
  bin/devcluster delete --dir "$cluster" >/dev/null 2>&1 || true
  rm -rf "$work"
  exit "$status"
}
trap leave EXIT
trap 'exit 130' INT TERM

# The upgrades by two builds wait most of the time. Meanwhile the nodes are tested, and the images built.
if [ ${#flags[@]} = 0 ]; then
  go test -c -vet=off -ldflags=-s -tags e2e -o "$work/upgrade.test" ./test/integration/upgrade
  (cd test/integration/upgrade && exec "$work/upgrade.test" -test.timeout=20m) >"$out/upgrades.log" 2>&1 &
  upgrades=$!
  step "Tests of devcluster's nodes"
  make test-nodes
fi

step "Images${previous:+; of the previous release, $(git describe --always "${previous:-HEAD}"), too}"
architecture=$(go env GOARCH)
built=$PWD/bin/e2e
mkdir -p "$built/images"
(cd tools/image && go build -o "$built/image" .)
image() { "$built/image" -platforms "linux/$architecture" "$@" >/dev/null; }
images=()

# image_of DIR NAME VERSION makes an image of what is in a directory, unless there is one of the same.
image_of() {
  local archive=$built/images/$2-$3.tar same
  same=$({ cat "$built/image"; tar -c --sort=name --mtime=@0 -C "$1" .; } | sha256sum)
  if [ ! -e "$archive" ] || [ "$(cat "$archive.of" 2>/dev/null)" != "$same" ]; then
    rm -f "$archive.of"
    image -directory "$1" -name "$2" -version "$3" -output "$archive"
    echo "$same" >"$archive.of"
  fi
  images+=("$archive")
}

make image VERSION=e2e PLATFORMS="linux/$architecture" >/dev/null
images+=("$PWD/dist/armature.tar")
if [ -n "$previous" ]; then
  mkdir "$work/previous"
  git archive "$previous" | tar -x -C "$work/previous"
  archive=$built/images/armature-$(git rev-parse "$previous^{commit}").tar
  if [ ! -e "$archive" ]; then
    image -source "$work/previous" -package ./cmd/armature -name armature -version previous -output "$archive.new"
    mv "$archive.new" "$archive"
  fi
  images+=("$archive")
fi

# The shell of the examples: Debian's busybox under the name that they use.
shell=$work/busybox
mkdir -p "$shell/bin" "$shell/etc" "$shell/tmp" "$shell/root"
chmod 1777 "$shell/tmp"
cp /bin/busybox "$shell/bin/"
for applet in $(/bin/busybox --list); do
  [ "$applet" = busybox ] || ln -s busybox "$shell/bin/$applet"
done
for library in $(ldd /bin/busybox | grep -o '/[^ ]*'); do
  mkdir -p "$shell$(dirname "$library")"
  cp -L "$library" "$shell$library"
done
image_of "$shell" busybox 1.28

# The examples with a program: it is the operator, and what its pods run.
for tagged in torchjob:e2e tfjob:e2e webapp:e2e tutorial:e2e kvstore:v1 kvstore:v2; do
  program=${tagged%:*}
  CGO_ENABLED=0 go build -o "$built/$program/usr/bin/$program" "./examples/$program"
  image_of "$built/$program" "$program" "${tagged#*:}"
done

# image_name prints what an archive calls its image: containerd's name, else OCI's, else Docker's.
image_name() {
  local name
  for name in '"io.containerd.image.name": *"' '"org.opencontainers.image.ref.name": *"' '"RepoTags": *\[ *"'; do
    { tar -xOf "$1" index.json || true; tar -xOf "$1" manifest.json || true; } 2>/dev/null |
      grep -o "$name[^\"]*" | head -n 1 | sed 's/.*"//' | grep . && return
  done
  echo "make e2e: $1 doesn't say how its image is called" >&2
  return 1
}
flux_image=
if [ -n "${FLUX_IMAGE:-}" ]; then
  flux_image=$(image_name "$FLUX_IMAGE")
  images+=("$FLUX_IMAGE")
fi

if [ -n "$upgrades" ]; then
  step "Upgrades by two builds"
  status=0
  wait "$upgrades" || status=$?
  upgrades=
  cat "$out/upgrades.log"
  [ "$status" = 0 ] || exit "$status"
fi

step "Tests"
CGO_ENABLED=0 go test -c -tags e2e -o "$work/e2e.test" ./test/e2e
helm=$(go tool -modfile=tools/deploy/go.mod -n helm)

# Kubernetes' own scheduler of gangs is behind a feature gate.
step "A cluster of three nodes"
bin/devcluster up --containers --node-names minikube,node-2,node-3 --audit-policy test/e2e/audit-policy.yaml \
  --feature-gates GenericWorkload=true --runtime-config scheduling.k8s.io/v1beta1=true --timeout 5m --detach --dir "$cluster"
bin/devcluster load --dir "$cluster" "${images[@]}"

# Most tests wait most of the time, so more of them run side by side than there are CPUs.
step "The suite"
export E2E_SEED=${E2E_SEED:-1} E2E_HELM=$helm E2E_IMAGE_TAG=e2e E2E_CLUSTER=$cluster E2E_DEVCLUSTER=$PWD/bin/devcluster \
  E2E_PREVIOUS=${previous:+$work/previous} E2E_FLUX_IMAGE=$flux_image E2E_LOGS=$out/logs
(cd test/e2e && ../../bin/devcluster exec --dir "$cluster" -- "$work/e2e.test" -test.v=test2json -test.parallel=6 -test.timeout=75m ${flags[@]+"${flags[@]}"}) |
  go run ./test/e2e/report "$out"
