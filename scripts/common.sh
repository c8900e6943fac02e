# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# What every script here shares: where the cache lies, how a message looks,
# and how a long step shows that it is alive.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/reventfd
PROG=${0##*/}

say() { printf '%s: %s\n' "$PROG" "$*" >&2; }

# die WHAT [WHAT-IT-MEANS-OR-WHAT-TO-DO]...
die() {
	printf '%s: %s\n' "$PROG" "$1" >&2
	shift
	[ $# -eq 0 ] || printf '  %s\n' "$@" >&2
	exit 2
}

# with_lock NAME COMMAND...: one at a time over all processes sharing the cache
with_lock() {
	local lock=$1
	shift
	mkdir -p "$CACHE/locks"
	(
		if ! flock -n 9; then
			say "another run prepares $lock; waiting for it"
			flock 9
		fi
		"$@"
	) 9>"$CACHE/locks/$lock"
}

# progress LABEL LOG COMMAND...: runs COMMAND with its output in LOG and says
# every few seconds how far LOG has come; on failure shows the end of LOG.
progress() {
	local label=$1 log=$2 pid t=0 rc=0
	shift 2
	mkdir -p "$(dirname "$log")"
	"$@" >"$log" 2>&1 </dev/null 9>&- &
	pid=$!
	say "$label"
	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		t=$((t + 1))
		[ $((t % 20)) -ne 0 ] ||
			say "$label: ${t} s, $(wc -l <"$log") lines, at: $(tail -n 1 "$log" | cut -c1-60)"
	done
	wait "$pid" || rc=$?
	if [ "$rc" -ne 0 ]; then
		tail -n 25 "$log" >&2
		say "$label: failed with status $rc; the whole log: $log"
	fi
	return "$rc"
}
