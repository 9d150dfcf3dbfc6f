#!/usr/bin/env bash
# say-first-build.sh FILE HOW-LONG: warns that a first build takes a while, so that nobody thinks it hangs.
set -euo pipefail
if [ ! -e "$1" ]; then
  echo "Building $1. The first time takes $2; after that it is cached and takes seconds."
fi
