# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.
mc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4
: >"$mc_private/ready" # the quorum has joined
mc_tell() {
	printf 'minicluster: %s\n' "$*" >&2
	(printf '%s\n' "$*" >>"${TERMINATION_LOG:-/dev/termination-log}") 2>/dev/null
}
mc_command=$(cat "$mc_scripts/command" && printf .)
mc_command=${mc_command%.}
flux submit -N 1 -n 1 --quiet --watch --job-name=demo "$mc_shell" -c "$mc_command"
mc_result=$?
if [ "$mc_result" != 0 ] && mc_job=$(flux jobs -a --no-header --format='{exception.type}: {exception.note}' 2>/dev/null); then
	case $mc_job in
	'') mc_tell "Flux accepted no job: "'flux submit -N 1 -n 1 --quiet --watch --job-name=demo'" was refused, and the log says why; it has $(flux resource list --no-header --states=all --format='{nnodes} nodes, {ncores} cores')" ;;
	[!:]*) mc_tell "Flux's job failed: $mc_job" ;;
	esac
fi
(exit "$mc_result")
