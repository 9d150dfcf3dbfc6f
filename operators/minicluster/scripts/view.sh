#!/bin/sh
# Copies Flux from the image of the init container into a volume. Argument: the directory of the volume.
set -e
mkdir -p "$1/view"
cp -R /opt/view/. "$1/view/"
[ ! -d /opt/software ] || cp -R /opt/software "$1/"
