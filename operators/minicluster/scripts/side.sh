#!/bin/sh
# Runs the command of a sidecar or of a service. Arguments: the directories of the scripts and of Flux, and the
# container's name.
mc_scripts=$1 mc_base=$2 mc_name=$3
[ ! -d "$mc_base/view/bin" ] || export PATH="$PATH:$mc_base/view/bin"
for mc_piece in init pre; do
	[ ! -s "$mc_scripts/$mc_name.$mc_piece" ] || . "$mc_scripts/$mc_name.$mc_piece"
done
mc_command=$(cat "$mc_scripts/$mc_name.command" && printf .)
exec sh -c "${mc_command%.}"
