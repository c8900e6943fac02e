/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REVENTFD_COUNTER_H
#define _REVENTFD_COUNTER_H

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "reventfd_shards.h"

/* The largest count that writes can reach; one more is eventfd's overflow. */
#define REVENTFD_COUNT_MAX	(ULLONG_MAX - 1)

/**
 * struct reventfd_counter - how events add up
 * @count: events written and not yet read; an atomic, no lock protects it
 * @shards: instead of @count, for a counter that is kept in parts; constant
 * @writes: successful adds, counted by each CPU for itself, so that a producer
 *	writes no shared line but that of @count; without @shards
 * @reads: successful takes; an atomic; without @shards
 */
struct reventfd_counter {
	atomic64_t count;
	struct reventfd_shards *shards;
	u64 __percpu *writes;
	atomic64_t reads;
};

int reventfd_counter_init(struct reventfd_counter *c, u64 count, bool sharded);
void reventfd_counter_destroy(struct reventfd_counter *c);
u64 reventfd_counter_take_one(struct reventfd_counter *c);
u64 reventfd_counter_take_all(struct reventfd_counter *c);
void reventfd_counter_stats(struct reventfd_counter *c, u64 *writes, u64 *reads);

/* Whether @n more fit on a count of @count. */
static inline bool reventfd_count_fits(u64 count, u64 n)
{
	return ULLONG_MAX - count > n;
}

/**
 * reventfd_counter_add - add events
 * @c: the counter
 * @n: how many; 0 is an event that adds nothing
 *
 * A full barrier when it succeeds.
 *
 * Return: false, and nothing is added, if the sum would pass
 * %REVENTFD_COUNT_MAX.
 */
static inline bool reventfd_counter_add(struct reventfd_counter *c, u64 n)
{
	s64 old;

	if (c->shards)
		return reventfd_shards_add(c->shards, n);

	/*
	 * Not an addition that is taken back when it went too far: meanwhile a
	 * reader would find what never was in the counter.
	 */
	old = atomic64_read(&c->count);
	do {
		if (!reventfd_count_fits(old, n))
			return false;
	} while (!atomic64_try_cmpxchg(&c->count, &old, old + n));

	this_cpu_inc(*c->writes);
	return true;
}

/**
 * reventfd_counter_add_saturating - add as many events as there is room for
 * @c: the counter
 * @n: how many
 *
 * A full barrier.
 *
 * Return: how many were added; less than @n if the count has reached
 * ULLONG_MAX.
 */
static inline u64 reventfd_counter_add_saturating(struct reventfd_counter *c, u64 n)
{
	u64 added;
	s64 old;

	if (c->shards)
		return reventfd_shards_add_saturating(c->shards, n);

	old = atomic64_read(&c->count);
	do {
		added = min(n, ULLONG_MAX - (u64)old);
	} while (!atomic64_try_cmpxchg(&c->count, &old, old + added));

	this_cpu_inc(*c->writes);
	return added;
}

/* The count at one instant. */
static inline u64 reventfd_counter_read(const struct reventfd_counter *c)
{
	return c->shards ? reventfd_shards_read(c->shards) : atomic64_read(&c->count);
}

/* For what poll() says, as good as the count at one instant. */
static inline u64 reventfd_counter_poll(const struct reventfd_counter *c)
{
	return c->shards ? reventfd_shards_poll(c->shards) : atomic64_read(&c->count);
}

/*
 * The count, taking no lock: it disturbs no producer. Zero means that each
 * event that had been added before has been taken, or another in its place.
 * Nobody goes to sleep on the strength of it: see event_shards.c.
 */
static inline u64 reventfd_counter_glance(const struct reventfd_counter *c)
{
	return c->shards ? reventfd_shards_glance(c->shards) : atomic64_read(&c->count);
}

#endif /* _REVENTFD_COUNTER_H */
