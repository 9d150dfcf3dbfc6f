#!/bin/sh
# Starts a pod of a MiniCluster: the leader, rank 0, or a worker. Arguments: the directories of the scripts, of the
# broker's configuration, of the certificate, of Flux, and a private one in memory; the archive; where a batch's output
# goes. They are arguments so that nothing below names a path.
#
# Exit codes: the leader's is that of the work. 143 says that the pod was told to stop, 75 that a worker can't go on;
# the Job knows by these two that the work hasn't failed.

if [ -z "${BASH_VERSION:-}" ] && command -v bash >/dev/null 2>&1; then
	exec bash "$0" "$@" # what people write in their commands is often bash
fi
mc_shell=sh
[ -z "${BASH_VERSION:-}" ] || mc_shell=bash

mc_scripts=$1 mc_config=$2 mc_secret=$3 mc_base=$4 mc_private=$5 mc_archive=$6 mc_logs=$7
. "$mc_scripts/settings.sh"
mc_rank=${JOB_COMPLETION_INDEX:?is not set: this script runs in the pods of an Indexed Job}
mc_child='' mc_stopping=''

mc_say() {
	[ -n "$mc_quiet" ] || printf 'minicluster: %s\n' "$*" >&2
}

mc_die() {
	printf 'minicluster: %s\n' "$*" >&2
	(printf '%s' "$*" >"${TERMINATION_LOG:-/dev/termination-log}") 2>/dev/null # it gets into the status
	exit 1
}

mc_stop() {
	mc_stopping=1
	[ -z "$mc_child" ] || kill -TERM "$mc_child" 2>/dev/null
}
trap mc_stop TERM INT
[ "$mc_rank" = 0 ] || trap 'case $? in 0 | 143) ;; *) exit 75 ;; esac' EXIT

# mc_run runs a command beside this shell, so that it can be stopped, and returns its exit code.
mc_run() {
	"$@" &
	mc_child=$!
	[ -z "$mc_stopping" ] || kill -TERM "$mc_child" 2>/dev/null
	while :; do
		wait "$mc_child"
		mc_code=$?
		kill -0 "$mc_child" 2>/dev/null || break # else a signal has cut the wait short
	done
	mc_child=''
	return "$mc_code"
}

# mc_piece runs one of the user's pieces of script in this shell, so that what it exports is seen by what follows.
mc_piece() {
	[ -s "$mc_scripts/$1" ] || return 0
	[ -z "$mc_strict" ] || set -e
	if [ -n "$mc_quiet" ]; then
		. "$mc_scripts/$1" >/dev/null 2>&1
	else
		. "$mc_scripts/$1"
	fi
	set +e
	[ -z "$mc_stopping" ] || exit 143
}

# mc_finish ends the pod with an exit code.
mc_finish() {
	mc_result=$1
	mc_piece post
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

# mc_find_flux puts the Flux that the init container brought on the PATH, behind what the image has.
mc_find_flux() {
	if [ -n "$mc_view" ]; then
		PATH=$PATH:$mc_base/view/bin
		for mc_site in "$mc_base"/view/lib/python3*/site-packages; do
			[ -n "$mc_python_path" ] || mc_python_path=$mc_site
		done
		# Flux looks for its libraries in /opt/software, where they were built.
		if [ -d "$mc_base/software" ]; then
			if [ -e /opt/software ]; then
				cp -R "$mc_base/software/." /opt/software/
			else
				mkdir -p /opt && ln -s "$mc_base/software" /opt/software
			fi || mc_say "user $(id -u) can't write /opt/software, where Flux looks for its libraries"
		fi
	fi
	[ -z "$mc_python_path" ] || PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$mc_python_path
	export PATH
	[ -z "$mc_python_path" ] || export PYTHONPATH
	command -v flux >/dev/null 2>&1 ||
		mc_die "there is no flux on the PATH ($PATH): take an image that has it, or let flux.container bring it"
}

# mc_prepare makes what the broker needs: its directories, its configuration, and a certificate that only this user
# reads, since Flux accepts no other.
mc_prepare() {
	mc_run_dir=$mc_private/run
	[ "${#mc_run_dir}" -lt 80 ] || mc_run_dir=$(mktemp -d /tmp/minicluster.XXXXXX) # the path of a socket is bounded
	mkdir -p "$mc_run_dir" "$mc_base/state" "$mc_private/curve" "$mc_private/broker" &&
		chmod 700 "$mc_run_dir" "$mc_base/state" ||
		mc_die "user $(id -u) can't write $mc_base: set pod.securityContext.fsGroup to a group of that user"
	printf '%s' "$mc_run_dir" >"$mc_private/rundir"
	(umask 077 && cat "$mc_secret/curve.cert" >"$mc_private/curve/curve.cert") ||
		mc_die "user $(id -u) can't read the certificate: set pod.securityContext.fsGroup to a group of that user"
	while IFS= read -r mc_line || [ -n "$mc_line" ]; do
		case $mc_line in
		*"$mc_curve_path"*)
			mc_line=${mc_line%%"$mc_curve_path"*}$mc_private/curve/curve.cert${mc_line#*"$mc_curve_path"}
			;;
		esac
		printf '%s\n' "$mc_line"
	done <"$mc_config/broker.toml" >"$mc_private/broker/broker.toml"
	printf '%s\n' \
		"export PATH='$PATH'" \
		"export PYTHONPATH='${PYTHONPATH:-}'" \
		"export LD_LIBRARY_PATH='${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$mc_base/view/lib'" \
		"export fluxsocket='local://$mc_run_dir/local'" \
		"export FLUX_URI='local://$mc_run_dir/local'" >"$mc_base/flux-view.sh"
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
			mc_pause 3600
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

mc_piece init
if [ -z "$mc_disabled" ]; then
	mc_find_flux
fi
mc_piece pre
if [ -z "$mc_disabled" ]; then
	mc_prepare
fi
mc_say "$mc_name-$mc_rank starts"
if [ "$mc_rank" = 0 ]; then
	mc_piece broker-pre
	mc_work
	mc_finish "$?"
else
	mc_piece worker-pre
	mc_follow
fi
