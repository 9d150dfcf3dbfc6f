#!/usr/bin/env bash
# chromium.sh: prints the path of Chromium, and installs Debian's package first where there is none. It exits with 3 where it can't.
set -euo pipefail
find_it() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
if ! find_it; then
  root=()
  [ "$(id -u)" = 0 ] || root=(sudo -n)
  { command -v apt-get && { [ "$(id -u)" = 0 ] || sudo -n true; } } >/dev/null 2>&1 ||
    { echo "chromium.sh: there is no Chromium, and it can't be installed here: this needs apt-get and root" >&2; exit 3; }
  { "${root[@]}" apt-get update -qq && "${root[@]}" apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >&2 ||
    { echo "chromium.sh: apt-get can't install chromium" >&2; exit 3; }
  find_it
fi
