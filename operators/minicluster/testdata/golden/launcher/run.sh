# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.
mc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4
: >"$mc_private/ready" # the quorum has joined
mc_tell() {
	printf 'minicluster: %s\n' "$*" >&2
	(printf '%s\n' "$*" >>"${TERMINATION_LOG:-/dev/termination-log}") 2>/dev/null
}
mc_command=$(cat "$mc_scripts/command" && printf .)
mc_command=${mc_command%.}
strace -f "$mc_shell" -c "$mc_command"
