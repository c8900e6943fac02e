// SPDX-License-Identifier: GPL-2.0-only
/*
 * How events add up: one 64-bit atomic.
 *
 * Memory order: whoever changes the count goes on to look at who must be
 * told, and whoever is about to sleep goes on to look at the count. So each
 * successful change here is a full barrier, as every value-returning atomic
 * of the kernel is; the files above name this one as their barriers' partner.
 */
#include "reventfd_counter.h"

/**
 * reventfd_counter_init - start a counter
 * @c: the counter
 * @count: its initial value
 */
void reventfd_counter_init(struct reventfd_counter *c, u64 count)
{
	atomic64_set(&c->count, count);
	atomic64_set(&c->writes, 0);
	atomic64_set(&c->reads, 0);
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
bool reventfd_counter_add(struct reventfd_counter *c, u64 n)
{
	s64 old = atomic64_read(&c->count);

	do {
		if (!reventfd_count_fits(old, n))
			return false;
	} while (!atomic64_try_cmpxchg(&c->count, &old, old + n));

	atomic64_inc(&c->writes);
	return true;
}

/**
 * reventfd_counter_take_one - take one event, as a semaphore's reader does
 * @c: the counter
 *
 * A full barrier when it takes.
 *
 * Return: 1, or 0 if there was none.
 */
u64 reventfd_counter_take_one(struct reventfd_counter *c)
{
	s64 old = atomic64_read(&c->count);

	do {
		if (!old)
			return 0;
	} while (!atomic64_try_cmpxchg(&c->count, &old, old - 1));

	atomic64_inc(&c->reads);
	return 1;
}

/**
 * reventfd_counter_take_all - take all events
 * @c: the counter
 *
 * A full barrier when it takes.
 *
 * Return: how many were taken.
 */
u64 reventfd_counter_take_all(struct reventfd_counter *c)
{
	u64 n;

	/* Leaves the line shared when there is nothing to take. */
	if (!atomic64_read(&c->count))
		return 0;

	n = atomic64_xchg(&c->count, 0);
	if (n)
		atomic64_inc(&c->reads);
	return n;
}
