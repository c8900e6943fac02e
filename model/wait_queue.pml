/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wait_queue.c, what its waiters wait for (read_ops of
 * ratelimited_eventfd.c, room_ops of eventfd_room.c), and how a poller links itself.
 */

inline wake_up_process(who) {
	d_step { assert(on_list[who]); runs[who] = true }
}

inline wake_watchers(kind) {
	do
	:: kind == READ && i < WATCHERS -> triggered[i] = triggered[i] || linked[i]; i++
	:: else -> i = 0; break
	od
}

/*
 * reventfd_queue_claim(). What READ_ONCE(w->task) finds NULL there, the
 * exchange would have found, too. The end of the walk is the end of holding the
 * lock; what wakes the watchers is reventfd_queue_wake(), not a waiter that
 * hands its claim on.
 */
inline claim_and_unlock(kind, most, watchers) {
	do
	:: atomic {
		i < length[kind] && claimed < most ->
		w = list[kind * WAITERS + i];
		i++;
		assert(on_list[w]);
		got = task[w];
#ifdef MUTANT_CLAIM_READS_THEN_STORES
	   };
	   atomic {
#endif
		task[w] = false;
		if
		:: got -> assert(!unanswered[w]); unanswered[w] = true
		:: else
		fi
	   };
		if
		:: got ->
#ifdef MUTANT_WAKE_AFTER_UNLOCK
			unlock;
			wake_up_process(w);
			atomic { shared_lock };
#else
			wake_up_process(w);
#endif
			claimed++
		:: else
		fi
	:: atomic {
		i >= length[kind] || claimed >= most ->
		i = 0;
		w = 0;
		claimed = 0;
		if
		:: watchers -> wake_watchers(kind)
		:: else
		fi;
		settled_unlock();
		break
	   }
	od
}

inline waiter_link(kind) {
	atomic {
		exclusive_lock;
		list[kind * WAITERS + length[kind]] = me;
		length[kind]++;
		on_list[me] = true;
		unlock
	}
}

inline waiter_unlink(kind) {
	atomic {
#ifndef MUTANT_UNLINK_WITHOUT_LOCK
		exclusive_lock;
#endif
		runs[me] = true;
		do
		:: list[kind * WAITERS + i] == me -> break
		:: else -> i++
		od;
		do
		:: i + 1 < length[kind] ->
			list[kind * WAITERS + i] = list[kind * WAITERS + i + 1];
			i++
		:: else -> i = 0; break
		od;
		length[kind]--;
		list[kind * WAITERS + length[kind]] = 0;
		on_list[me] = false;
#ifndef MUTANT_UNLINK_WITHOUT_LOCK
		unlock
#endif
	}
}

inline waiter_publish() {
#ifdef MUTANT_PUBLISH_BEFORE_STATE
	task[me] = true;
	runs[me] = false
#else
	runs[me] = false;
	task[me] = true
#endif
}

inline waiter_withdraw() {
#ifdef MUTANT_WITHDRAW_READS_THEN_STORES
	taken_back = task[me];
	task[me] = false
#else
	atomic { taken_back = task[me]; task[me] = false }
#endif
}

inline hand_on(kind) {
	atomic { shared_lock; unanswered[me] = false };
	claim_and_unlock(kind, 1, false)
}

inline ready(kind) {
	if
#ifdef MUTANT_SLEEPERS_GLANCE
	:: kind == READ -> glance(); reventfd_readable()
#else
	:: kind == READ -> look(); reventfd_readable()
#endif
	:: kind == WRITE -> ok = fits(wanted[me])
	fi
}

inline attempt(kind) {
	if
	:: kind == READ ->
#ifdef MUTANT_SLEEPERS_GLANCE
		glance();
#else	/* whether it is granted is all it goes by */
		has = true;
#endif
		reventfd_readable();
		if
		:: ok -> reventfd_drain(); ok = n > 0; n = 0
		:: else
		fi
	:: kind == WRITE -> counter_add()
	fi
}

/* Leaves in ok whether an attempt succeeded; if none did, a signal came. */
inline queue_wait(kind) {
	waiter_link(kind);
	do
	:: true ->
#ifdef MUTANT_PUBLISH_BEFORE_ATTEMPT
		waiter_publish();
#endif
		attempt(kind);
		if
		:: atomic { ok -> unanswered[me] = false; break }
		:: atomic { !ok -> unanswered[me] = false }
		fi;
#ifndef MUTANT_PUBLISH_BEFORE_ATTEMPT
		waiter_publish();
#endif
#ifdef MUTANT_NO_LOOK_AFTER_PUBLISH
		ok = false;
#else
		ready(kind);
#endif
		if
		:: ok -> skip
#if SIGNALS
		:: !ok && signalled[me] ->
			waiter_withdraw();
			left_claimed = !taken_back;
			break
		:: !ok && !signalled[me] ->
#else
		:: !ok ->
#endif
			/* schedule() */
			atomic { runs[me] || signalled[me] -> runs[me] = true }
		fi;
#ifndef MUTANT_NO_WITHDRAWAL
		waiter_withdraw()
#endif
	od;
	waiter_unlink(kind);
#if SIGNALS
#ifndef MUTANT_NO_HAND_ON
	if
	:: left_claimed ->
		ready(kind);
		if
		:: ok -> hand_on(kind); ok = false
		:: else
		fi
	:: else
	fi;
#endif
	d_step { left_claimed = false; unanswered[me] = false; signalled[me] = false };
#endif
	taken_back = false
}

/* The end of a read: as many wakeups as writers, who find out for themselves. */
inline announce_room() {
#if ROOM
	if
	:: length[WRITE] ->
		atomic { shared_lock };
#ifdef MUTANT_ROOM_FOR_ONE
		claim_and_unlock(WRITE, 1, false)
#else
		claim_and_unlock(WRITE, PRODUCERS, false)
#endif
	:: else
	fi
#else
	skip
#endif
}

inline poll_link(which) {
	atomic { linked[which] = true; linked_watchers++ }
}

inline poll_unlink(which) {
	atomic { linked[which] = false; linked_watchers--; triggered[which] = false }
}
