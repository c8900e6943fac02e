# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Part of scripts/check: the kernels, processors and lengths that only 'check all'
# runs, and the table of what ran where.

STOCK=(6.12 6.12-rt 7.3 7.3-rt)
FURTHER=(clang-6.12 i386-6.12 6.1-686 6.12-arm64 lockdep-rt-6.12 kcsan-6.12 gcov-6.12)
# As check's together() takes them: the longest first.
REST=('races kcsan-6.12' every_watched_test 'processor 6.12-arm64' 'processor 6.1-686'
	model coverage 'locks lockdep-rt-6.12' 'stock 7.3-rt' 'stock 6.12-rt' 'stock 7.3'
	'stock 6.12' built_for_32_bits
	'judge 10 6.1' 'programs_of_32_bits 6.1 behaviour waiting commands limits loops'
	'installing list-slow' signing 'kernel_tests 6.1' tracepoints
	'other_locks 6.12-rt' compilers)
LENGTH=(billion hostile_at_length watched_at_length)

processor() { # KERNEL
	local arch programs seconds=1800 slow=yes seeds=3
	arch=$("$TOP/scripts/kernel" arch "$1")
	try "the programs for $arch build" "$TOP/scripts/selftests-for" "$arch"
	programs=$TOP/build/selftests-$arch
	selftests selftests "$1" "${SELFTESTS[@]}" "${JUDGED[@]}"
}

programs_of_32_bits() { # KERNEL PROGRAM...
	local programs=$TOP/build/selftests-i386
	try 'the programs for 32 bits build' "$TOP/scripts/selftests-for" i386
	selftests '32-bit programs' "$@"
}

# A watchpoint at every 1000th access instead of 4000th: less code runs than
# in a machine that is in use.
races() { # KERNEL
	local append=kcsan.skip_watch=1000 seconds=2400 slow=yes without=$WATCHED_WITHOUT
	kunit "$1"
	selftests selftests "$1" "${SELFTESTS[@]}" "${JUDGED[@]}" "${HOSTILE[@]}" hostile
}

locks() { # KERNEL
	local seconds=1800 slow=yes without=$WATCHED_WITHOUT
	kunit "$1"
	selftests selftests "$1" "${SELFTESTS[@]}" inversion suspend hostile
}

takes_clang() { # KERNEL
	# What it would go on to do, it cannot without having done it.
	{ make -n -C "$TOP" KDIR="$("$TOP/scripts/kernel" dir "$1")/build" modules || true; } |
		grep 'LLVM=1 modules'
}

names_the_oldest_kernel() {
	! MODULE_OUT=too-old "$TOP/scripts/module" 6.1 VERSION=5 PATCHLEVEL=10 2>&1 ||
		return
	grep -F 'reventfd needs Linux 6.1 or newer; this is 5.10' "$TOP/build/too-old.log"
}

# The module with the lock it must not have there: the test of it fails where,
# and only where, that lock decides who waits for whom.
shows_inversion() { # KERNEL
	local out log=$OUT/rwlock rc=0
	out=$(MODULE_OUT=rwlock-$1 "$TOP/scripts/module" "$1" KCFLAGS=-DREVENTFD_FORCE_RWLOCK) ||
		return
	"$TOP/scripts/vm" run -k "$1" -n -t 300 -f "$out/reventfd.ko" \
		-f "$TOP/build/selftests/inversion" -- \
		sh -c 'insmod ./reventfd.ko && ./inversion' >"$log" || rc=$?
	cat "$log"
	[ "$rc" -eq 1 ] && diff <(sed -nE 's/^not ok [0-9]+ (- )?inversion\.//p' "$log") - <<-'END'
		opened.who_sets_the_limit_does_not_wait_for_the_hog
		opened.a_woken_reader_does_not_wait_for_the_hog
		sharded.who_sets_the_limit_does_not_wait_for_the_hog
		sharded.a_woken_reader_does_not_wait_for_the_hog
		limited.who_sets_the_limit_does_not_wait_for_the_hog
		limited.a_woken_reader_does_not_wait_for_the_hog
	END
}

sparse_is_silent() { # KERNEL
	local out
	out=$(MODULE_OUT=sparse-$1 "$TOP/scripts/module" "$1" C=2 \
		CF='-Wsparse-error -Wno-shift-count-overflow') || return
	grep 'CHECK.*wait_queue.c' "$out.log" && ! grep -E 'error:|warning:' "$out.log"
}

stock() { # KERNEL
	local seeds=3
	# shellcheck disable=SC2046 # a word or none
	selftests selftests "$1" "${SELFTESTS[@]}" "${JUDGED[@]}" "${HOSTILE[@]}" hostile \
		suspend $([[ $1 != *-rt ]] || echo inversion)
}

every_watched_test() {
	debug_kernel selftests "${SELFTESTS[@]}" "${JUDGED[@]}"
	traced=yes debug_kernel traced "${TRACED[@]}"
}

built_for_32_bits() {
	kunit i386-6.12
	processor i386-6.12
}

other_locks() { # KERNEL
	try "with an rwlock instead the inversion shows on $1" shows_inversion "$1"
	try "sparse is silent on $1" sparse_is_silent "$1"
}

compilers() {
	try 'the module compiles without a warning on clang-6.12' "$TOP/scripts/module" clang-6.12
	try 'make takes clang on clang-6.12' takes_clang clang-6.12
}

coverage() {
	try 'coverage on gcov-6.12: enough, and a reason for the rest' "$TOP/scripts/coverage"
}

tracepoints() {
	try 'tracing: bpftrace, trace-cmd and perf, as docs/tracing.md says' "$TOP/scripts/tracing"
}

# As long as it takes for what is rare.
billion() {
	long=yes seconds=3600 selftests 'at length' 6.1 endless crowds
}

hostile_at_length() {
	long=yes seconds=3600 selftests 'hostile at length' 6.1 hostile
}

watched_at_length() {
	long=yes slow=yes seconds=3600 memory=1536 selftests 'at length' "$DEBUG" hostile
}

# What a kernel's row says of how it is had and of who watches.
how() { # KERNEL
	case $1 in
	clang-*) echo "prepared from Debian's source" ;;
	*-*.*) echo "built from Debian's source" ;;
	*) echo "Debian's package" ;;
	esac
}

count() { # STATE [KERNEL]
	awk -v state="$1" -v on=" on ${2:-}" -v every="${2:-every}" '
		$1 == state && (every == "every" || index($0 ":", on ":")) { n++ }
		END { print n + 0 }' "$RESULTS"
}

rows() {
	local kernel text
	while read -r kernel _ text; do
		printf '| %s | %s | %s, %s | %d | %d | %d |\n' "$kernel" "$text" "$(how "$kernel")" \
			"$(cat "$("$TOP/scripts/kernel" dir "$kernel")/release")" \
			"$(count pass "$kernel")" "$(count fail "$kernel")" "$(count skip "$kernel")"
	done < <("$TOP/scripts/kernel" list)
}

table() {
	cat <<-'END'
	# What runs where

	Written by `make check-all`, which runs all of it. `make check` runs 6.1 in full and a part of what is run on 7.3,
	6.12, 6.12-rt and the debug kernel, and of the 32-bit programs. Each virtual machine's log is a test, too: a warning, a leak or a report of any checker fails it.

	| kernel | what it is | how it is had | passed | failed | skipped |
	| --- | --- | --- | ---: | ---: | ---: |
	END
	rows
	printf '| all | | with what needs no kernel of its own: style, the rig, the builds | %d | %d | %d |\n' \
		"$(count pass)" "$(count fail)" "$(count skip)"
	printf '\nSkipped, and why:\n\n'
	sed -n 's/^skip .*# SKIP //p' "$RESULTS" | sort | uniq -c | sort -rn |
		sed -E 's/^ *([0-9]+) (.*)/- \2 (\1)/'
}
