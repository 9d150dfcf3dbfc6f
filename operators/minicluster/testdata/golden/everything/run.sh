# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.
mc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4
: >"$mc_private/ready" # the quorum has joined
mc_began=$(date +%s)
nice flux run -N 4 -n 8 --quiet --watch -ompi=none --setattr='user.study=a b' -vvv "$mc_scripts/script"
mc_code=$?
printf 'FLUXTIME fluxsubmit wall time %s s\n' "$(($(date +%s) - mc_began))"
exit "$mc_code"
