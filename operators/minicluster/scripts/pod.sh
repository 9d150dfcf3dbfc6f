# What start.sh and side.sh share. It expects mc_scripts, mc_base, mc_software and the settings.

mc_child='' mc_stopping=''

mc_say() {
	[ -n "$mc_quiet" ] || printf 'minicluster: %s\n' "$*" >&2
}

# mc_report says why this container is about to end, where Kubernetes finds it: it gets into the status.
mc_report() {
	printf 'minicluster: %s\n' "$*" >&2
	(printf '%s\n' "$*" >>"${TERMINATION_LOG:-/dev/termination-log}") 2>/dev/null
}

mc_stop() {
	mc_stopping=1
	[ -z "$mc_child" ] || kill -TERM "$mc_child" 2>/dev/null
}
trap mc_stop TERM INT

# mc_run runs a command beside this shell, so that it can be stopped, and returns its exit code. After the
# container is told to stop, it starts nothing.
mc_run() {
	[ -z "$mc_stopping" ] || return 143
	"$@" &
	mc_child=$!
	# A new process loses a signal that arrives before it has reset this shell's traps.
	[ -z "$mc_stopping" ] || { sleep 1 && kill -TERM "$mc_child" 2>/dev/null; }
	while :; do
		wait "$mc_child"
		mc_code=$?
		kill -0 "$mc_child" 2>/dev/null || break # else a signal has cut the wait short
	done
	mc_child=''
	return "$mc_code"
}

# mc_find_flux puts the Flux that the init container brought on the PATH, behind what the image has. It fails where Flux
# wouldn't find its libraries.
mc_find_flux() {
	if [ -n "$mc_view" ]; then
		PATH=$PATH:$mc_base/view/bin
		for mc_site in "$mc_base"/view/lib/python3*/site-packages; do
			[ -n "$mc_python_path" ] || mc_python_path=$mc_site
		done
		# Flux looks for its libraries in /opt/software, where they were built. For a user other than root they are mounted
		# there. An image's own directory of this name is completed, and stays.
		if [ -d "$mc_base/software" ] && ! [ "$mc_software" -ef "$mc_base/software" ]; then
			if [ -e "$mc_software" ]; then
				cp -R "$mc_base/software/." "$mc_software/"
			else
				mkdir -p "${mc_software%/*}" && ln -s "$mc_base/software" "$mc_software"
			fi || return
		fi
	fi
	[ -z "$mc_python_path" ] || PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$mc_python_path
	export PATH
	[ -z "$mc_python_path" ] || export PYTHONPATH
}
