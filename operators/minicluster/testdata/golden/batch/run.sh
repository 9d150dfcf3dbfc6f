# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.
mc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4
: >"$mc_private/ready" # the quorum has joined
mc_tell() {
	printf 'minicluster: %s\n' "$*" >&2
	(printf '%s\n' "$*" >>"${TERMINATION_LOG:-/dev/termination-log}") 2>/dev/null
}
mkdir -p "$mc_logs"
mc_result=0
mc_refused() {
	mc_result=1
	mc_tell "Flux refuses job $1 of the batch: $(tail -n 5 "$mc_private/refused")"
}
{ flux submit --flags=waitable --quiet --output="$mc_logs/job-0.out" --error="$mc_logs/job-0.err" -ompi=openmpi echo hello
} 2>"$mc_private/refused" || mc_refused 0; cat "$mc_private/refused" >&2
{ flux submit --flags=waitable --quiet --output="$mc_logs/job-1.out" --error="$mc_logs/job-1.err" -ompi=openmpi -N2 -n2 lmp -in "in put"
} 2>"$mc_private/refused" || mc_refused 1; cat "$mc_private/refused" >&2
flux job wait --all || mc_result=1
(exit "$mc_result")
