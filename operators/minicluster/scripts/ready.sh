#!/bin/sh
# Says by its exit code whether the broker of this pod is ready: the leader's, once the quorum has joined and the work
# has begun; a worker's, once it serves its socket. Arguments: the directories of the scripts and of Flux, and the
# private one.
mc_scripts=$1 mc_base=$2 mc_private=$3
. "$mc_scripts/settings.sh"
if [ "$JOB_COMPLETION_INDEX" != 0 ]; then
	[ -S "$(cat "$mc_private/rundir")/local" ]
elif [ -n "$mc_interactive" ]; then
	. "$mc_base/flux-view.sh" && flux uptime | grep -q ' run '
else
	[ -e "$mc_private/ready" ]
fi
