/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wake protocol of wakeup_limiter.c and wait_queue.c for the model checker
 * spin: what is in the functions of the same name there, step by step.
 *
 * A step is one access to memory that others reach, or one atomic operation of
 * the kernel's. Taking the queue's lock is one step with the access after it,
 * dropping it one with the access before it, and a section under the exclusive
 * lock of which nothing shows outside is one step: that hides nothing, since
 * such steps commute with all that others can do meanwhile. Interleavings are
 * sequentially consistent: memory order is the matter of litmus/.
 *
 * Who takes part is chosen by -D, see the file configurations; -DMUTANT_...
 * breaks one step, see the file mutants. docs/model.md says what is left out.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef WRITES		/* of each producer */
#define WRITES 1
#endif
#ifndef FIRST_N		/* events per write: of the first producer, of the others */
#define FIRST_N 1
#endif
#ifndef OTHER_N
#define OTHER_N 1
#endif
#ifndef READERS		/* blocked readers */
#define READERS 0
#endif
#ifndef POLLERS		/* poll, read, poll, ... */
#define POLLERS 0
#endif
#ifndef EDGES		/* epoll, edge-triggered, never reads */
#define EDGES 0
#endif
#ifndef BURST
#define BURST 1
#endif
#ifndef SETTING		/* the limit at the start */
#define SETTING NONE
#endif
#ifndef CHANGES		/* changes of the limit */
#define CHANGES 0
#endif
#ifndef SIGNALS		/* to blocked readers and writers */
#define SIGNALS 0
#endif
#ifndef THEFTS		/* reads on a non-blocking descriptor */
#define THEFTS 0
#endif
#ifndef ROOM		/* the largest count; without it nobody waits for room */
#define ROOM 0
#endif

#define NONE	0	/* of setting: no limit */
#define GATED	1
#define WAKEUPS	2	/* REVENTFD_LIMIT_WAKE_ONLY */

#define WAITERS	(READERS + PRODUCERS)	/* readers first */
#define WATCHERS (POLLERS + EDGES)	/* pollers first */
#define READ	0			/* the two lists of waiters */
#define WRITE	1

/* The module's state. */
byte count, setting, granted, seen;
#ifdef SHARDED
byte shard[2];		/* which add up to count */
#endif
bool owed;
byte paid;		/* the bucket: intervals it is paid ahead of the clock */
byte sharers;		/* of the queue's lock, of whom one may have it */
bool exclusive;		/* alone */
byte list[2 * WAITERS], length[2];
bool task[WAITERS];	/* waiter->task: published, neither claimed nor withdrawn */
bool linked[WATCHERS + 1];
byte linked_watchers;

/* The kernel's. */
bool runs[WAITERS];	/* TASK_RUNNING, else TASK_INTERRUPTIBLE */
bool signalled[WAITERS];
bool armed, firing;	/* the timer: enqueued, its function runs */
bool triggered[WATCHERS + 1];	/* poll's and epoll's note of a wakeup */

/* What only the properties look at. */
bool on_list[WAITERS];	/* the waiter's stack frame is there */
bool unanswered[WAITERS];	/* it has been claimed and made no attempt since */
bool gone[WAITERS];
byte wanted[WAITERS];	/* by a writer */
byte tokens;		/* taken and not yet spent on a wakeup */
byte gated_reads;
bool fresh;		/* an event that is there and of which no edge has told */
byte references;
bool timer_stopped, freed;

#define limited(s)	((s) != NONE)
#define gated(s)	((s) == GATED)
#define fits(n)		(ROOM == 0 || count + (n) <= ROOM)

/* To be used inside atomic, so that what follows is one step with it. */
#define shared_lock	!exclusive -> sharers++
#define exclusive_lock	!exclusive && !sharers -> exclusive = true; sharers = 1
#define unlock		exclusive = false; sharers--	/* held either way */

/* The timer. It may be late, and with nothing to go by, early, too. */

inline hrtimer_start() {
	assert(!timer_stopped);
	armed = true
}

inline hrtimer_try_to_cancel() {
	if
	:: !firing -> armed = false
	:: else
	fi
}

#define hrtimer_cancel	!firing -> armed = false

/*
 * Between two looks of one task: a step of its own where the setting may change
 * in between, else they are one.
 */
#if CHANGES || defined(RELEASE)
#define NEXT_STEP	} -> atomic {
#else
#define NEXT_STEP	->
#endif

#include "wait_queue.pml"
#include "wakeup_limiter.pml"

/* Who takes part. */

#define LOCALS \
	byte i, w, n, sample, claimed; \
	bool has, ok, got, quiet, was_owed, taken_back, left_claimed;

proctype producer(byte me; byte each) {
	LOCALS
	byte writes;

	wanted[me] = each;
	do
	:: writes < WRITES ->
#ifdef MUTANT_LOOK_BEFORE_ADD
		announce_looks();
#endif
		counter_add();
		if
		:: ok
		:: else -> queue_wait(WRITE)
		fi;
		if
		:: ok -> announce(each)
		:: else
		fi;
		writes++
	:: else -> break
	od;
	atomic { references--; freed = !references; gone[me] = true }
}

/* The attempt without waiting that comes first is as good as one of poller's. */
proctype reader(byte me) {
	LOCALS
#ifdef READS
	byte reads;
#endif

	do
	:: queue_wait(READ);
		if
		:: ok -> ok = false; announce_room()
		:: else -> break
		fi
#ifdef READS
		;
		reads++;
		if
		:: reads == READS -> break
		:: else
		fi
#endif
	od;
	gone[me] = true
}

proctype thief() {
	LOCALS
	byte reads;

	do
	:: reads < THEFTS ->
		reventfd_drain();
		if
		:: n -> n = 0; announce_room()
		:: else
		fi;
		reads++
	:: else -> break
	od
}

/* poll(2) or select(2), and a read that does not block when it says readable. */
proctype poller(byte me) {
	LOCALS

	do
	:: true ->
#ifdef MUTANT_POLL_LOOKS_BEFORE_LINK
		look();
		reventfd_readable();
		poll_link(me);
#else
		poll_link(me);
		look();
		reventfd_readable();
#endif
		do
		:: ok -> ok = false; break
		:: else ->
			atomic { triggered[me] -> triggered[me] = false };
			look();
			reventfd_readable()
		od;
		poll_unlink(me);
		reventfd_drain();
		if
		:: n -> n = 0; announce_room()
		:: else
		fi
#ifdef ONE_CONSUMER
		;
		atomic { gated_reads++; assert(gated_reads <= granted) }
#endif
	od
}

/* epoll_wait(2) with EPOLLET: linked once, and the counter is never read. */
proctype edge(byte me) {
	LOCALS

	atomic { poll_link(me); triggered[me] = true };
	do
	:: atomic { triggered[me] -> triggered[me] = false };
		look();
		reventfd_readable();
		if
		:: ok -> ok = false; fresh = false
		:: else
		fi
	od
}

proctype timer() {
	LOCALS

	do
	:: atomic { armed -> armed = false; firing = true; assert(!freed) };
		settle_debt();
		atomic { assert(!freed); firing = false }
	od
}

proctype clock() {
	do
	:: atomic { paid -> paid-- }
	od
}

proctype changer() {
	LOCALS
	byte changes, new;

	do
	:: changes < CHANGES ->
		if
		:: new = NONE
		:: new = GATED
		:: new = WAKEUPS
		fi;
		limiter_set(new);
		changes++
	:: else -> break
	od
}

proctype signaller() {
	byte signals, who;

	do
	:: signals < SIGNALS ->
		if
		:: READERS > 0 -> who = 0
		:: READERS > 1 -> who = 1
		:: ROOM > 0 -> who = READERS
		:: ROOM > 0 && PRODUCERS > 1 -> who = READERS + 1
		fi;
		atomic { signalled[who] = true; runs[who] = true };
		signals++
	:: else -> break
	od
}

/* The file's last reference goes; producers are other modules then. */
proctype release() {
	LOCALS

	limiter_stop();
	atomic { references--; freed = !references }
}

/* When nobody can take a step any more, whoever should have been woken has been. */
proctype quiescence() {
	byte i;

	timeout ->
	assert(!owed && !armed && !sharers && !exclusive);
	do
	:: i < WAITERS ->
		assert(gone[i] || (i < READERS -> !count : !fits(wanted[i])));
		assert(!unanswered[i]);
		i++
	:: else -> break
	od;
	assert(!POLLERS || !count);
	assert(!fresh);
#ifdef RELEASE
	assert(freed)
#endif
}

init {
	byte i;

	atomic {
		setting = SETTING;
		references = PRODUCERS + 1;
		do
		:: i < WAITERS ->
			runs[i] = true;
			if
			:: i < READERS -> run reader(i)
			:: i == READERS -> run producer(i, FIRST_N)
			:: i > READERS -> run producer(i, OTHER_N)
			fi;
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < POLLERS -> run poller(i); i++
		:: i >= POLLERS && i < WATCHERS -> run edge(i); i++
		:: else -> break
		od;
		i = 0;
		if :: SETTING || CHANGES -> run timer(); run clock() :: else fi;
		if :: THEFTS -> run thief() :: else fi;
		if :: SIGNALS -> run signaller() :: else fi;
		if :: CHANGES -> run changer() :: else fi;
#ifdef RELEASE
		run release();
#endif
		run quiescence()
	}
}
