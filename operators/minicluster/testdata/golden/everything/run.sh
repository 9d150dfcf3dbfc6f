# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.
mc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4
: >"$mc_private/ready" # the quorum has joined
mc_tell() {
	printf 'minicluster: %s\n' "$*" >&2
	(printf '%s\n' "$*" >>"${TERMINATION_LOG:-/dev/termination-log}") 2>/dev/null
}
flux module list 2>/dev/null | grep -q sched-fluxion-qmanager ||
	mc_tell 'flux.scheduler.queuePolicy has no effect: this Flux is without the Fluxion scheduler'
mc_began=$(date +%s)
nice flux run -N 4 -n 8 --quiet --watch -ompi=none --setattr='user.study=a b' -vvv "$mc_scripts/script"
mc_result=$?
if [ "$mc_result" != 0 ] && mc_job=$(flux jobs -a --no-header --format='{exception.type}: {exception.note}' 2>/dev/null); then
	case $mc_job in
	'') mc_tell "Flux accepted no job: "'flux run -N 4 -n 8 --quiet --watch -ompi=none --setattr='\''user.study=a b'\'' -vvv'" was refused, and the log says why; it has $(flux resource list --no-header --states=all --format='{nnodes} nodes, {ncores} cores')" ;;
	[!:]*) mc_tell "Flux's job failed: $mc_job" ;;
	esac
fi
(exit "$mc_result")
mc_code=$?
printf 'FLUXTIME fluxsubmit wall time %s s\n' "$(($(date +%s) - mc_began))"
exit "$mc_code"
