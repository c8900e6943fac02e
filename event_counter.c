// SPDX-License-Identifier: GPL-2.0-only
/*
 * How events add up: one 64-bit atomic, or the shards of event_shards.c.
 *
 * Memory order: whoever changes the count goes on to look at who must be
 * told, and whoever is about to sleep goes on to look at the count. So each
 * successful change here is a full barrier, as every value-returning atomic
 * of the kernel is; the files above name this one as their barriers' partner.
 *
 * The adds stand in the header: a write, or a signal, that wakes nobody is made
 * of one, and little else.
 */
#include "reventfd_counter.h"

/**
 * reventfd_counter_init - start a counter
 * @c: the counter
 * @count: its initial value
 * @sharded: whether to keep it in parts, a part for each CPU
 *
 * Return: 0 or -ENOMEM.
 */
int reventfd_counter_init(struct reventfd_counter *c, u64 count, bool sharded)
{
	atomic64_set(&c->count, sharded ? 0 : count);
	atomic64_set(&c->reads, 0);
	c->shards = NULL;
	c->writes = NULL;
	if (sharded)
		c->shards = reventfd_shards_new(count);
	else
		c->writes = alloc_percpu_gfp(u64, GFP_KERNEL_ACCOUNT);
	return c->shards || c->writes ? 0 : -ENOMEM;
}

/**
 * reventfd_counter_destroy - the end of a counter
 * @c: the counter
 *
 * Does not sleep, except for a lock on PREEMPT_RT.
 */
void reventfd_counter_destroy(struct reventfd_counter *c)
{
	reventfd_shards_free(c->shards);
	free_percpu(c->writes);
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
	s64 old;

	if (c->shards)
		return reventfd_shards_take_one(c->shards);

	old = atomic64_read(&c->count);
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

	if (c->shards)
		return reventfd_shards_take_all(c->shards);

	/* Leaves the line shared when there is nothing to take. */
	if (!atomic64_read(&c->count))
		return 0;

	n = atomic64_xchg(&c->count, 0);
	if (n)
		atomic64_inc(&c->reads);
	return n;
}

/**
 * reventfd_counter_stats - how often was added and taken
 * @c: the counter
 * @writes: is set to the number of successful adds
 * @reads: is set to the number of successful takes
 *
 * Takes no lock and disturbs no producer.
 */
void reventfd_counter_stats(struct reventfd_counter *c, u64 *writes, u64 *reads)
{
	u64 sum = 0;
	int cpu;

	if (c->shards) {
		reventfd_shards_stats(c->shards, writes, reads);
		return;
	}
	for_each_possible_cpu(cpu) {
		/* Its CPU counts it up while this looks, on 32 bits in halves: that is meant. */
		sum += data_race(READ_ONCE(*per_cpu_ptr(c->writes, cpu)));
	}
	*writes = sum;
	*reads = atomic64_read(&c->reads);
}
