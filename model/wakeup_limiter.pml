/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wakeup_limiter.c, and of event_counter.c and event_shards.c what a counter
 * does: each add and each take is one step.
 */

inline counter_add() {
	atomic {
		ok = fits(wanted[me]);
		if
		:: ok ->
			count = count + wanted[me];
			fresh = EDGES > 0;
#ifdef SHARDED
			shard[me - READERS] = shard[me - READERS] + wanted[me]
#endif
		:: else
		fi
	}
}

inline counter_take() {
	atomic {
#ifdef SEMAPHORE
		n = (count > 0 -> 1 : 0);
#ifdef SHARDED
		if	/* from any shard that has one: it depends on the CPU */
		:: shard[0] -> shard[0]--
		:: shard[1] -> shard[1]--
		:: !count
		fi;
#endif
		count = count - n
#else
		n = count;
		count = 0;
		fresh = false;
#ifdef SHARDED
		shard[0] = 0;
		shard[1] = 0
#endif
#endif
	}
}

/* reventfd_counter_glance(): whether there is anything, looked at without a lock. */
#ifdef SHARDED
#define look_first	has = shard[0] > 0
#define look_on		has = has || shard[1] > 0
#else
#define look_first	has = count > 0
#define look_on		skip
#endif

inline glance() {
	look_first;
	look_on
}

/* reventfd_counter_read(): the count at one instant. */
inline look() {
	has = count > 0
}

#if defined(SEMAPHORE) && !defined(MUTANT_SEMAPHORE_CLAIMS_ONE)
#define wake_consumers_and_unlock(n)	claim_and_unlock(READ, n, true)
#else
#define wake_consumers_and_unlock(n)	claim_and_unlock(READ, 1, true)
#endif

inline grant_and_unlock() {
#ifdef MUTANT_GRANT_AFTER_WAKE
	sharers++;
	wake_consumers_and_unlock(1);
	atomic { granted++; assert(tokens > 0); tokens--; settled_unlock() }
#else
	atomic { granted++; assert(tokens > 0); tokens-- };
	wake_consumers_and_unlock(1)
#endif
}

inline owe_and_unlock() {
#if defined(MUTANT_TIMER_BEFORE_OWED)
	if
	:: atomic { !owed -> hrtimer_start() }; atomic { owed = true; settled_unlock() }
	:: atomic { owed -> settled_unlock() }
	fi
#elif defined(MUTANT_NO_TIMER)
	atomic { owed = true; settled_unlock() }
#else
	if
	:: atomic { owed -> settled_unlock() }
	:: atomic { !owed -> owed = true };
#ifdef MUTANT_TIMER_WITHOUT_LOCK
		settled_unlock();
		atomic { hrtimer_start() }
#else
		atomic { hrtimer_start(); settled_unlock() }
#endif
	fi
#endif
}

/*
 * The end of holding the lock, for who may have settled something. If that was
 * a change of the limit, it stops the timer.
 */
inline settled_unlock() {
	if
#ifndef MUTANT_CHANGE_LEAVES_TIMER
	:: exclusive -> hrtimer_try_to_cancel()
#endif
	:: else
	fi;
	unlock
}

/* settle(), after shared_lock and look_first in one step: nobody changes the setting now. */
inline settle_and_unlock(n) {
	look_on;
	if
	:: !limited(setting) -> wake_consumers_and_unlock(n)
	:: limited(setting) && !has -> settled_unlock()
	:: limited(setting) && has ->
		if
		:: atomic { paid < BURST -> paid++; tokens++ }; grant_and_unlock()
		:: paid >= BURST -> owe_and_unlock()
		fi
	fi;
	has = false
}

/* Whether reventfd_announce() may return before it takes the lock. */
inline announce_looks() {
	if
	:: owed -> quiet = true
	:: else ->
		if
		:: limited(setting)
		:: !limited(setting) -> quiet = !length[READ]; quiet = quiet && !linked_watchers
		fi
	fi
}

/*
 * Leaves in quiet whether that was all. It is one step: the setting does not
 * change while the pollers' lock is held.
 */
inline wake_pollers() {
#ifdef MUTANT_WAKE_POLLERS_FOR_ALL
	quiet = !limited(setting);
#else
	atomic { quiet = !limited(setting) NEXT_STEP quiet = quiet && !length[READ] };
#endif
	if
	:: quiet ->
#ifdef MUTANT_WAKE_POLLERS_WITHOUT_LOCK
		quiet = !limited(setting);
#endif
		atomic {
#ifndef MUTANT_WAKE_POLLERS_WITHOUT_LOCK
			quiet = !limited(setting);
#endif
			if
			:: quiet -> assert(!limited(setting)); wake_watchers(READ)
			:: else
			fi
		}
	:: else
	fi
}

inline announce(n) {
#ifndef MUTANT_LOOK_BEFORE_ADD
	announce_looks();
#endif
	if
	:: quiet
	:: else -> wake_pollers()
	fi;
	if
	:: quiet
	:: else -> atomic { shared_lock; look_first }; settle_and_unlock(n)
	fi;
	quiet = false
}

inline settle_debt() {
#if defined(MUTANT_LOOK_BEFORE_CLEAR)
	atomic { shared_lock; look_first };
	look_on;
	atomic { was_owed = owed; owed = false };
#elif defined(MUTANT_OWED_NOT_CLEARED)
	atomic { shared_lock; was_owed = owed };
	glance();
#else
	atomic { shared_lock; was_owed = owed; owed = false };
	glance();
#endif
	if
	:: was_owed && has ->
#ifdef MUTANT_TIMER_TAKES_NO_TOKEN
		grant_and_unlock()
#else
		look_first;
		settle_and_unlock(1)
#endif
	:: else -> settled_unlock()
	fi;
	atomic { was_owed = false; has = false }
}

/* After look(). */
inline reventfd_readable() {
	if
	:: !has -> ok = false
	:: has ->
		has = false;
		if
		:: atomic { !gated(setting) -> ok = true }
#ifdef MUTANT_NOT_GATED
		:: atomic { gated(setting) -> ok = true }
#else	/* the compiler may read these two in either order */
		:: atomic { gated(setting) NEXT_STEP sample = granted }; ok = sample != seen; sample = 0
		:: atomic { gated(setting) NEXT_STEP sample = seen }; ok = sample != granted; sample = 0
#endif
		fi
	fi
}

inline reventfd_drain() {
	if
	:: !gated(setting) -> counter_take()
#ifdef MUTANT_SAMPLE_AFTER_TAKE
	:: gated(setting) -> counter_take(); sample = granted;
#else
	:: atomic { gated(setting) NEXT_STEP sample = granted }; counter_take();
#endif
		if
#ifndef MUTANT_SEEN_NOT_STORED
		:: n -> seen = sample
#endif
		:: else
		fi;
		sample = 0
	fi
}

/* The lock stays held. */
inline change(new) {
#ifdef MUTANT_CHANGE_LOOKS_FIRST
	glance();
#endif
	atomic {
#ifdef MUTANT_CHANGE_SHARES_LOCK
		shared_lock;
#else
		exclusive_lock;
#endif
#ifdef MUTANT_CHANGE_CLEARS_FIRST
		owed = false
	};
	atomic {
#endif
		paid = (limited(new) -> 0 : paid);
		setting = new
	};
#if !defined(MUTANT_CHANGE_KEEPS_OWED) && !defined(MUTANT_CHANGE_CLEARS_FIRST)
	owed = false
#endif
}

inline limiter_set(new) {
	change(new);
#ifndef MUTANT_CHANGE_LOOKS_FIRST
	glance();
#endif
	if
#ifndef MUTANT_CHANGE_SETTLES_NOTHING
	:: has -> look_first; settle_and_unlock(1)
#endif
	:: else -> atomic { settled_unlock() }
	fi;
	has = false
}

/* reventfd_limiter_stop(), which release calls. */
inline limiter_stop() {
#ifdef MUTANT_STOP_CANCELS_FIRST
	atomic { hrtimer_cancel };
#endif
#ifdef MUTANT_STOP_KEEPS_SETTING
	atomic { exclusive_lock; owed = false; unlock };
#else
	change(NONE);
	atomic { unlock };
#endif
#if !defined(MUTANT_STOP_DOES_NOT_WAIT) && !defined(MUTANT_STOP_CANCELS_FIRST)
	atomic { hrtimer_cancel };
#endif
	timer_stopped = true
}
