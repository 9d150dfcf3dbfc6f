#!/usr/bin/env bash
# needs-of-nodes.sh build|run: says what this machine lacks to build the programs of nodes with containers, or to run a cluster of
# three such nodes, before minutes are spent on compiling. Building says of running, too, but doesn't fail because of it: the
# programs may be meant for another machine.
set -euo pipefail

if [ "$(uname -s)" != Linux ]; then
  echo "nodes with containers need Linux; this is $(uname -s)" >&2
  exit 1
fi

status=0
if [ "$1" = build ]; then
  # runc finds libseccomp by pkg-config.
  compiler=$(go env CC) pkg_config=${PKG_CONFIG:-pkg-config} missing=()
  command -v "${compiler%% *}" >/dev/null || missing+=("a C compiler: there is no $compiler on the PATH")
  if ! command -v "$pkg_config" >/dev/null; then
    missing+=("pkg-config: there is no $pkg_config on the PATH")
  elif ! "$pkg_config" --exists libseccomp; then
    missing+=("the headers of libseccomp: $pkg_config doesn't find libseccomp")
  fi
  if [ ${#missing[@]} -gt 0 ]; then
    echo "runc, one of the programs of a node, is built with C, for which this machine lacks" >&2
    printf -- '- %s\n' "${missing[@]}" >&2
    echo "On Debian and Ubuntu: apt-get install gcc pkg-config libseccomp-dev" >&2
    status=1
  fi
fi

# devcluster up counts those that are free; this many there must be. A kubelet that gets none ends without a word about it.
need=42
limit=${INOTIFY_INSTANCES:-$(cat /proc/sys/fs/inotify/max_user_instances)}
if [ "$limit" -lt "$need" ]; then
  echo "a cluster of three nodes with containers needs $need inotify instances, and this machine lets each user have $limit:" \
    "sysctl -w fs.inotify.max_user_instances=1024" >&2
  [ "$1" = build ] || status=1
fi
exit "$status"
