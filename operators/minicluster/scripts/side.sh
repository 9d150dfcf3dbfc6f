#!/bin/sh
# Runs the command of a sidecar or of a service. Arguments: the directories of the scripts and of Flux, the container's
# name, the directory of the broker's socket, that where Flux looks for its libraries, and how: "once" for a sidecar,
# whose work is done when it has ended with 0, and "socket" if it waits for the broker. Pods of an earlier version have
# only the first three.
mc_scripts=$1 mc_base=$2 mc_run_dir=${4:-} mc_software=${5:-/opt/software} mc_how=${6:-}
. "$mc_scripts/settings.sh"
. "$mc_scripts/pod.sh"
mc_side=$3

if [ -n "$mc_run_dir" ] && [ -z "$mc_disabled" ]; then
	mc_find_flux || mc_say "user $(id -u) can't write $mc_software, where Flux looks for its libraries: set pod.securityContext.runAsUser, so that it is mounted there"
	export fluxsocket="local://$mc_run_dir/local"
	export FLUX_URI="$fluxsocket"
fi
for mc_piece in init pre; do
	[ ! -s "$mc_scripts/$mc_side.$mc_piece" ] || . "$mc_scripts/$mc_side.$mc_piece"
done
case $mc_how in
*socket*)
	while [ -z "$mc_stopping" ] && [ ! -S "$mc_run_dir/local" ]; do
		mc_run sleep 1
	done
	;;
esac
mc_result=0
if [ -s "$mc_scripts/$mc_side.command" ] && [ -z "$mc_stopping" ]; then
	mc_command=$(cat "$mc_scripts/$mc_side.command" && printf .)
	mc_run sh -c "${mc_command%.}"
	mc_result=$?
fi
# Without a command, post is the work.
if [ -s "$mc_scripts/$mc_side.post" ]; then
	mc_run sh "$mc_scripts/$mc_side.post"
	mc_post_result=$?
	[ -s "$mc_scripts/$mc_side.command" ] || mc_result=$mc_post_result
fi
# Kubernetes starts a sidecar again whenever it ends, so one that has done its work stays until it is stopped. The sleeps are short,
# because one that has just begun may miss the signal.
case $mc_how in
*once*)
	while [ "$mc_result" = 0 ] && [ -z "$mc_stopping" ]; do
		mc_run sleep 5
	done
	;;
esac
[ -z "$mc_stopping" ] || exit 143
exit "$mc_result"
