#!/usr/bin/env bash
# postgres.sh: prints the directory of PostgreSQL's programs, and installs Debian's package first where there are none, without a server
# that runs. It exits with 3 where it can't.
set -euo pipefail
find_it() {
  local initdb
  initdb=$(ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -1)
  [ -n "$initdb" ] || initdb=$(command -v initdb || true)
  [ -n "$initdb" ] && dirname "$initdb"
}
if ! find_it; then
  root=()
  [ "$(id -u)" = 0 ] || root=(sudo -n)
  { command -v apt-get && { [ "$(id -u)" = 0 ] || sudo -n true; } } >/dev/null 2>&1 ||
    { echo "postgres.sh: there is no PostgreSQL, and it can't be installed here: this needs apt-get and root" >&2; exit 3; }
  install() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; }
  # postgresql-common decides whether the package of the server starts one.
  { "${root[@]}" apt-get update -qq && install postgresql-common &&
    "${root[@]}" mkdir -p /etc/postgresql-common/createcluster.d &&
    echo "create_main_cluster = false" | "${root[@]}" tee /etc/postgresql-common/createcluster.d/armature.conf &&
    install postgresql; } >&2 ||
    { echo "postgres.sh: apt-get can't install postgresql" >&2; exit 3; }
  find_it
fi
