#!/bin/sh
# Starts a pod of a MiniCluster: the leader, rank 0, or a worker. Arguments: the directories of the scripts, of the
# broker's configuration, of the certificate, of Flux, and a private one in memory; the archive; where a batch's output
# goes; the directories of the broker's socket, which sidecars see, and where Flux looks for its libraries. They are
# arguments so that nothing below names a path. Pods of an earlier version have only the first seven.
#
# Exit codes: the leader's is that of the work. 143 says that the pod was told to stop, 75 that a worker can't go on. The runtime ends a
# container with 128, 137 or 255. The Job takes a pod that ends with one of these five for a lost one, and starts another in its place.

if [ -z "${BASH_VERSION:-}" ] && command -v bash >/dev/null 2>&1; then
	exec bash "$0" "$@" # what people write in their commands is often bash
fi
mc_shell=sh
[ -z "${BASH_VERSION:-}" ] || mc_shell=bash

mc_scripts=$1 mc_config=$2 mc_secret=$3 mc_base=$4 mc_private=$5 mc_archive=$6 mc_logs=$7
mc_run_dir=${8:-$5/run} mc_software=${9:-/opt/software}
. "$mc_scripts/settings.sh"
. "$mc_scripts/pod.sh"
mc_rank=${JOB_COMPLETION_INDEX:?is not set: this script runs in the pods of an Indexed Job}
mc_now=''

mc_die() {
	mc_report "$*"
	exit 1
}

# mc_shorten keeps the end of a long message of this container: the kubelet keeps only the first 12 KB divided by the number of the pod's
# containers, and the line that follows must be among them. The status shows 512 bytes (maxDetail), in which a line break takes two.
mc_shorten() {
	mc_log=${TERMINATION_LOG:-/dev/termination-log}
	(
		[ "$(wc -c <"$mc_log")" -gt 400 ] && mc_text=$(tail -c 399 "$mc_log") && printf '%s\n' "$mc_text" >|"$mc_log"
	) 2>/dev/null
}

# mc_left says which piece of the user's ended this shell, if one did. A worker never ends with a code that fails the Job. A leader that
# isn't told to stop always does, because its command must not run twice; the operator finds its own code in the last line (endOfLeader).
mc_left() {
	mc_code=$?
	trap - EXIT
	set +e # with logging.strict, a message that can't be written would change the exit code
	[ -z "$mc_now" ] || mc_report "commands.$mc_now ended rank $mc_rank with exit code $mc_code${mc_strict:+ (logging.strict is set)}"
	if [ "$mc_rank" != 0 ]; then
		case $mc_code in 0 | 143) ;; *) exit 75 ;; esac
	elif [ -z "$mc_stopping" ]; then
		case $mc_code in 75 | 128 | 137 | 143 | 255)
			mc_shorten
			mc_report "the leader's exit code is $mc_code; its container ends with 1, because the Job starts a pod that ends with $mc_code again"
			exit 1
			;;
		esac
	fi
	exit "$mc_code"
}
trap mc_left EXIT

# mc_piece runs one of the user's pieces of script, by its file and its field, in this shell, so that what it exports is
# seen by what follows.
mc_piece() {
	[ -s "$mc_scripts/$1" ] || return 0
	mc_now=$2
	[ -z "$mc_strict" ] || set -e
	if [ -n "$mc_quiet" ]; then
		. "$mc_scripts/$1" >/dev/null 2>&1
	else
		. "$mc_scripts/$1"
	fi
	set +e
	mc_now=''
	[ -z "$mc_stopping" ] || exit 143
}

# mc_finish ends the pod with an exit code, whatever post does: it runs in a shell of its own. Its output is that of the
# work (post: cat results), so it isn't subject to logging.quiet.
mc_finish() {
	mc_result=$1
	[ ! -s "$mc_scripts/post" ] || (. "$mc_scripts/post")
	[ -z "$mc_stopping" ] || mc_result=143
	exit "$mc_result"
}

# mc_timed runs a command and prints how long it took, if that is wanted.
mc_timed() {
	mc_label=$1
	shift
	mc_began=$(date +%s)
	mc_run "$@"
	mc_timed_code=$?
	[ -z "$mc_time" ] || printf 'FLUXTIME %s wall time %s s\n' "$mc_label" "$(($(date +%s) - mc_began))"
	return "$mc_timed_code"
}

# mc_prepare makes what the broker needs: its directories, its configuration, and a certificate that only this user
# reads, since Flux accepts no other.
mc_prepare() {
	[ "${#mc_run_dir}" -lt 80 ] || mc_run_dir=$(mktemp -d /tmp/minicluster.XXXXXX) # the path of a socket is bounded
	mkdir -p "$mc_run_dir" "$mc_base/state" "$mc_private/curve" "$mc_private/broker" &&
		chmod 700 "$mc_run_dir" "$mc_base/state" ||
		mc_die "user $(id -u) can't write $mc_base: set pod.securityContext.fsGroup to a group of that user"
	printf '%s' "$mc_run_dir" >"$mc_private/rundir"
	(umask 077 && cat "$mc_secret/curve.cert" >"$mc_private/curve/curve.cert") ||
		mc_die "user $(id -u) can't read the certificate: set pod.securityContext.fsGroup to a group of that user"
	mc_configure <"$mc_config/broker.toml" >"$mc_private/broker/broker.toml"
	[ -z "$mc_resources" ] || mc_count >"$mc_private/R" ||
		mc_die "flux R encode --local can't tell this node's cores: set resources.limits.cpu"
	printf '%s\n' \
		"export PATH='$PATH'" \
		"export PYTHONPATH='${PYTHONPATH:-}'" \
		"export LD_LIBRARY_PATH='${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$mc_base/view/lib'" \
		"export fluxsocket='local://$mc_run_dir/local'" \
		"export FLUX_URI='local://$mc_run_dir/local'" >"$mc_base/flux-view.sh"
}

# mc_configure copies the broker's configuration. The certificate is where this script has put it. A file with the
# resources (path = ".../R", as flux-operator has it) that no one has made is made here: see mc_count.
mc_configure() {
	mc_resources=''
	while IFS= read -r mc_line || [ -n "$mc_line" ]; do
		case ${mc_line#"${mc_line%%[! 	]*}"} in
		curve_cert*=*)
			mc_line="curve_cert = \"$mc_private/curve/curve.cert\""
			;;
		path*=*/R[\"\']*)
			mc_path=${mc_line#*[\"\']}
			if [ ! -e "${mc_path%%[\"\']*}" ]; then
				mc_resources=1
				mc_line="path = \"$mc_private/R\""
			fi
			;;
		esac
		printf '%s\n' "$mc_line"
	done
}

# mc_count writes the resources of all hosts: each is believed to have as many cores as this node has for this pod.
mc_count() {
	if [ -z "$mc_gpus" ]; then
		flux R encode --hosts="$mc_hosts" --local
		return
	fi
	mc_cores=$(flux R encode --local | flux R decode --count=core) && [ "$mc_cores" -ge 1 ] &&
		flux R encode --hosts="$mc_hosts" --cores="0-$((mc_cores - 1))" --gpus="$mc_gpus"
}

# mc_broker runs a broker, with the words of its initial program, if there is one.
mc_broker() {
	[ "$mc_rank" != 0 ] || [ -z "$mc_archive" ] || [ ! -e "$mc_archive" ] ||
		set -- "-Scontent.restore=$mc_archive" "$@"
	[ -z "$mc_interactive" ] || set -- -Sbroker.rc2_none "$@"
	[ -z "$mc_zeromq" ] || set -- -Stbon.zmqdebug=1 "$@"
	mc_timed fluxstart flux start ${mc_wrap:+"--wrap=$mc_wrap"} \
		"--config-path=$mc_private/broker" \
		"-Srundir=$mc_run_dir" \
		"-Sstatedir=$mc_base/state" \
		"-Slocal-uri=local://$mc_run_dir/local" \
		"-Shostname=$mc_name-$mc_rank" \
		"-Sbroker.quorum=$mc_quorum" \
		"$mc_topology" \
		"-Stbon.connect_timeout=$mc_connect_timeout" \
		"-Slog-stderr-level=$mc_log_level" \
		-Slog-stderr-mode=local \
		"$@"
}

# mc_work is what the leader runs: inside of its broker, or by itself.
mc_work() {
	set -- "$mc_shell" "$mc_scripts/run.sh" "$mc_shell" "$mc_scripts" "$mc_private" "$mc_logs"
	if [ -n "$mc_disabled" ]; then
		mc_run "$@"
	elif [ -n "$mc_interactive" ]; then
		mc_say "the cluster is interactive: . $mc_base/flux-view.sh && flux proxy \$fluxsocket bash"
		mc_broker
	else
		mc_broker "$@"
	fi
}

# mc_pause waits for so many seconds, or until the pod is told to stop.
mc_pause() {
	mc_run sleep "$1"
	[ -z "$mc_stopping" ] || mc_finish 143
}

# mc_follow is what a worker does until the leader has ended.
mc_follow() {
	mc_wait=1
	while :; do
		if [ -n "$mc_disabled" ]; then
			mc_pause 5 # not longer: a sleep that has just begun may miss the signal
			continue
		fi
		mc_broker && mc_finish 0 # the leader has ended the cluster
		[ -z "$mc_stopping" ] || mc_finish 143
		[ -z "$mc_complete_workers" ] || mc_finish 0
		mc_say "the broker has ended with $mc_timed_code; it is started again in $mc_wait s"
		mc_pause "$mc_wait"
		[ "$mc_wait" -ge 15 ] || mc_wait=$((mc_wait * 2))
	done
}

mc_piece init init
if [ -z "$mc_disabled" ]; then
	mc_find_flux ||
		mc_die "user $(id -u) can't write $mc_software, where Flux looks for its libraries: set pod.securityContext.runAsUser, so that it is mounted there"
	command -v flux >/dev/null 2>&1 ||
		mc_die "there is no flux on the PATH ($PATH): take an image that has it, or let flux.container bring it"
fi
mc_piece pre pre
if [ -z "$mc_disabled" ]; then
	mc_prepare
fi
mc_say "$mc_name-$mc_rank starts"
if [ "$mc_rank" = 0 ]; then
	mc_piece broker-pre brokerPre
	mc_work
	mc_finish "$?"
else
	mc_piece worker-pre workerPre
	mc_follow
fi
