# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.
mc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4
: >"$mc_private/ready" # the quorum has joined
flux module list 2>/dev/null | grep -q sched-fluxion-qmanager ||
	echo 'minicluster: flux.scheduler.queuePolicy has no effect: this Flux is without the Fluxion scheduler' >&2
mc_began=$(date +%s)
nice flux run -N 4 -n 8 --quiet --watch -ompi=none --setattr='user.study=a b' -vvv "$mc_scripts/script"
mc_code=$?
printf 'FLUXTIME fluxsubmit wall time %s s\n' "$(($(date +%s) - mc_began))"
exit "$mc_code"
