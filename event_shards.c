// SPDX-License-Identifier: GPL-2.0-only
/*
 * How events add up in a counter with many producers: a part for each CPU.
 *
 * The bound
 * =========
 *
 * What a counter holds at most is divided into shares, which add up to it
 * exactly. No shard's count passes its share, so the sum cannot pass the whole
 * however many producers add at once, each looking at its own shard alone. An
 * event that does not fit its shard goes where there is room, under all the
 * locks; whether there is room at all is decided there, by the sum.
 *
 * An in-kernel signal may fill the counter up to one more than the shares
 * hold, which is eventfd's overflow. That one event is kept apart. While it is
 * there, an add to a single shard still leaves room for it, since it never
 * fills the shard.
 *
 * Locking
 * =======
 *
 * A producer takes the lock of its CPU's shard, which nobody else wants unless
 * events are just being taken. It is a lock rather than disabled preemption so
 * that a consumer reaches every shard from where it is, without an interrupt
 * to the other CPU or a work item there, and a CPU that has gone offline keeps
 * nothing back. If the producer is moved to another CPU after it chose its
 * shard, it meets that CPU's producers there, once.
 *
 * Whoever needs the sum takes gather and then all the shards' locks in order;
 * so reads, and what poll() says, are of one instant, like eventfd's. Nobody
 * else takes more than one shard's lock. There are at most SHARDS_MAX of them,
 * so that holding them all takes no longer on the largest machine and does not
 * run out of preemption depth; CPUs beyond that share.
 *
 * All are taken with interrupts off, since an in-kernel signal may come from
 * one, and inside no other lock of the counter; none is taken inside them.
 *
 * Memory order
 * ============
 *
 * As in event_counter.c each successful change is ordered before all that
 * follows, here by a barrier after the unlock. What precedes it is ordered by
 * the unlock, before whoever takes one of its locks next. A glance takes no
 * lock. An event that was added before it, in the sense of that barrier, is
 * seen by it, unless an event was taken from the same shard in its place. That
 * is enough for a waker: who added what it has missed is yet to look for
 * itself. It is not enough for one who goes to sleep: a glance may miss an
 * event in one shard and then, in the next, the event that another reader took
 * instead, though the counter was never empty. Who is about to sleep has found
 * nothing with all the locks held.
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "reventfd_counter.h"

#define SHARDS_MAX	32U

static struct kmem_cache *shards_cache __read_mostly;
/* A power of two, so that a CPU's shard is found without a division. */
static unsigned int shards_number __read_mostly;

static struct reventfd_shard *shard_of(struct reventfd_shards *s, unsigned int i)
{
	return &s->shard[i & (shards_number - 1)];
}

static struct reventfd_shard *local_shard(struct reventfd_shards *s)
{
	return shard_of(s, raw_smp_processor_id());
}

/* Sparse cannot count the locks of a loop: it is shown gather alone. */
static void lock_all(struct reventfd_shards *s, unsigned long *flags)
	__acquires(&s->gather)
{
	unsigned int i;

	spin_lock_irqsave(&s->gather, *flags);
	for (i = 0; i < shards_number; i++) {
		spin_lock_nest_lock(&s->shard[i].lock, &s->gather);
		__release(&s->shard[i].lock);
	}
}

static void unlock_all(struct reventfd_shards *s, unsigned long *flags)
	__releases(&s->gather)
{
	unsigned int i;

	for (i = shards_number; i-- > 0;) {
		__acquire(&s->shard[i].lock);
		spin_unlock(&s->shard[i].lock);
	}
	spin_unlock_irqrestore(&s->gather, *flags);
}

static void shard_add(struct reventfd_shard *shard, u64 n)
{
	lockdep_assert_held(&shard->lock);

	/* One writer at a time: an atomic only for those who look without the lock. */
	atomic64_set(&shard->count, atomic64_read(&shard->count) + n);
}

static u64 shard_room(const struct reventfd_shard *shard)
{
	return shard->share - atomic64_read(&shard->count);
}

/* A statistic, which only the holder of its shard's lock changes. */
static void count_one(atomic64_t *stat)
{
	atomic64_set(stat, atomic64_read(stat) + 1);
}

/* Puts @n, for which there is room, where there is room. */
static void spread(struct reventfd_shards *s, u64 n)
{
	unsigned int first = raw_smp_processor_id(), i;
	u64 part;

	lockdep_assert_held(&s->gather);

	for (i = 0; n && i < shards_number; i++) {
		part = min(n, shard_room(shard_of(s, first + i)));
		shard_add(shard_of(s, first + i), part);
		n -= part;
	}
	/* All shares are full: the one event more. */
	if (n) {
		WARN_ON_ONCE(n > 1);
		atomic64_set(&s->overflow, n);
	}
}

/* Adds to the local shard, unless that would fill it. */
static bool add_local(struct reventfd_shards *s, u64 n)
{
	struct reventfd_shard *shard = local_shard(s);
	unsigned long flags;
	bool added = false;

	spin_lock_irqsave(&shard->lock, flags);
	if (n < shard_room(shard)) {
		shard_add(shard, n);
		count_one(&shard->writes);
		added = true;
	}
	spin_unlock_irqrestore(&shard->lock, flags);
	return added;
}

static bool add_anywhere(struct reventfd_shards *s, u64 *n, bool saturate)
{
	unsigned long flags;
	bool fits;
	u64 sum;

	lock_all(s, &flags);
	sum = reventfd_shards_glance(s);
	if (saturate)
		*n = min(*n, ULLONG_MAX - sum);
	fits = saturate || reventfd_count_fits(sum, *n);
	if (fits) {
		spread(s, *n);
		count_one(&local_shard(s)->writes);
	}
	unlock_all(s, &flags);
	return fits;
}

/**
 * reventfd_shards_add - add events
 * @s: the shards
 * @n: how many; 0 is an event that adds nothing
 *
 * Ordered before all that follows, when it succeeds.
 *
 * Return: false, and nothing is added, if the sum would pass
 * %REVENTFD_COUNT_MAX.
 */
bool reventfd_shards_add(struct reventfd_shards *s, u64 n)
{
	if (!add_local(s, n) && !add_anywhere(s, &n, false))
		return false;
	/* Adding, then looking who waits: see event_counter.c, model/litmus/owed_shards. */
	smp_mb();
	return true;
}

/**
 * reventfd_shards_add_saturating - add as many events as there is room for
 * @s: the shards
 * @n: how many
 *
 * Ordered before all that follows.
 *
 * Return: how many were added; less than @n if the sum has reached ULLONG_MAX.
 */
u64 reventfd_shards_add_saturating(struct reventfd_shards *s, u64 n)
{
	if (!add_local(s, n))
		add_anywhere(s, &n, true);
	/* As above. */
	smp_mb();
	return n;
}

/* Takes one from @shard, whose lock the caller holds. */
static bool shard_take_one(struct reventfd_shard *shard)
{
	if (!atomic64_read(&shard->count))
		return false;
	shard_add(shard, (u64)-1);
	count_one(&shard->reads);
	return true;
}

/* From the nearest shard that has one. None found need not mean none there. */
static bool take_one_near(struct reventfd_shards *s)
{
	unsigned int first = raw_smp_processor_id(), i;
	struct reventfd_shard *shard;
	unsigned long flags;
	bool taken = false;

	for (i = 0; i < shards_number && !taken; i++) {
		shard = shard_of(s, first + i);
		if (!atomic64_read(&shard->count))
			continue;
		spin_lock_irqsave(&shard->lock, flags);
		taken = shard_take_one(shard);
		spin_unlock_irqrestore(&shard->lock, flags);
	}
	return taken;
}

static bool take_one_anywhere(struct reventfd_shards *s)
{
	unsigned long flags;
	bool taken = false;
	unsigned int i;

	lock_all(s, &flags);
	for (i = 0; i < shards_number && !taken; i++)
		taken = shard_take_one(&s->shard[i]);
	if (!taken && atomic64_read(&s->overflow)) {
		atomic64_set(&s->overflow, 0);
		count_one(&s->shard[0].reads);
		taken = true;
	}
	unlock_all(s, &flags);
	return taken;
}

/**
 * reventfd_shards_take_one - take one event, as a semaphore's reader does
 * @s: the shards
 *
 * Ordered before all that follows, when it takes.
 *
 * Return: 1, or 0 if there was none in any shard at one instant.
 */
u64 reventfd_shards_take_one(struct reventfd_shards *s)
{
	if (!take_one_near(s) && !take_one_anywhere(s))
		return 0;
	/* Taking, then looking who waits for room: see event_counter.c. */
	smp_mb();
	return 1;
}

/**
 * reventfd_shards_take_all - take all events
 * @s: the shards
 *
 * Ordered before all that follows, when it takes.
 *
 * Return: how many there were in all shards at one instant.
 */
u64 reventfd_shards_take_all(struct reventfd_shards *s)
{
	unsigned long flags;
	unsigned int i;
	u64 sum;

	lock_all(s, &flags);
	sum = reventfd_shards_glance(s);
	if (sum) {
		for (i = 0; i < shards_number; i++)
			atomic64_set(&s->shard[i].count, 0);
		atomic64_set(&s->overflow, 0);
		count_one(&s->shard[0].reads);
	}
	unlock_all(s, &flags);
	if (sum)
		/* As above. */
		smp_mb();
	return sum;
}

/**
 * reventfd_shards_read - the count at one instant
 * @s: the shards
 *
 * Return: the sum of all shards.
 */
u64 reventfd_shards_read(struct reventfd_shards *s)
{
	unsigned long flags;
	u64 sum;

	lock_all(s, &flags);
	sum = reventfd_shards_glance(s);
	unlock_all(s, &flags);
	return sum;
}

/**
 * reventfd_shards_poll - a count of which poll() says the same as of the count
 * @s: the shards
 *
 * One shard that holds something, and leaves room for something beside the
 * overflow, tells of that instant: the counter is neither empty nor full. Only
 * where no shard tells, all are locked.
 *
 * Return: 0 if the count was 0, ULLONG_MAX - 1 or more if it was that, else
 * anything in between.
 */
u64 reventfd_shards_poll(struct reventfd_shards *s)
{
	unsigned int i;
	u64 count;

	for (i = 0; i < shards_number; i++) {
		count = atomic64_read(&s->shard[i].count);
		if (count && s->shard[i].share - count >= 2)
			return count;
	}
	return reventfd_shards_read(s);
}

/**
 * reventfd_shards_glance - the count, looked at without a lock
 * @s: the shards
 *
 * Return: the sum of the shards, looked at one after the other. While events
 * are added and taken it may never have been the count.
 */
u64 reventfd_shards_glance(struct reventfd_shards *s)
{
	u64 sum = atomic64_read(&s->overflow);
	unsigned int i;

	for (i = 0; i < shards_number; i++)
		sum += atomic64_read(&s->shard[i].count);
	return sum;
}

/**
 * reventfd_shards_stats - how often was added and taken
 * @s: the shards
 * @writes: is set to the number of successful adds
 * @reads: is set to the number of successful takes
 */
void reventfd_shards_stats(struct reventfd_shards *s, u64 *writes, u64 *reads)
{
	unsigned int i;

	*writes = 0;
	*reads = 0;
	for (i = 0; i < shards_number; i++) {
		*writes += atomic64_read(&s->shard[i].writes);
		*reads += atomic64_read(&s->shard[i].reads);
	}
}

/**
 * reventfd_shards_new - make the shards of a counter
 * @count: its initial value, at most %REVENTFD_COUNT_MAX
 *
 * Return: the shards, or NULL if there is no memory.
 */
struct reventfd_shards *reventfd_shards_new(u64 count)
{
	u64 share = REVENTFD_COUNT_MAX >> ilog2(shards_number);
	struct reventfd_shards *s;
	unsigned long flags;
	unsigned int i;

	s = kmem_cache_zalloc(shards_cache, GFP_KERNEL);
	if (!s)
		return NULL;

	spin_lock_init(&s->gather);
	for (i = 0; i < shards_number; i++) {
		spin_lock_init(&s->shard[i].lock);
		s->shard[i].share = share;
	}
	s->shard[0].share += REVENTFD_COUNT_MAX & (shards_number - 1);

	lock_all(s, &flags);
	spread(s, count);
	unlock_all(s, &flags);
	return s;
}

/**
 * reventfd_shards_free - the end of the shards
 * @s: the shards, or NULL
 *
 * Does not sleep, except for a lock on PREEMPT_RT.
 */
void reventfd_shards_free(struct reventfd_shards *s)
{
	if (s)
		kmem_cache_free(shards_cache, s);
}

/**
 * reventfd_shards_number - how many shards a counter has
 *
 * Return: the number, a power of two.
 */
unsigned int reventfd_shards_number(void)
{
	return shards_number;
}

static int make_cache(const char *name, unsigned int number)
{
	struct reventfd_shards *s;

	shards_number = number;
	shards_cache = kmem_cache_create(name, struct_size(s, shard, number),
					 __alignof__(*s), SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	return shards_cache ? 0 : -ENOMEM;
}

/**
 * reventfd_shards_init - get ready to make shards
 * @name: what their slab cache is called
 *
 * Return: 0 or -ENOMEM.
 */
int reventfd_shards_init(const char *name)
{
	return make_cache(name, min_t(unsigned int, roundup_pow_of_two(nr_cpu_ids), SHARDS_MAX));
}

/**
 * reventfd_shards_exit - give back what reventfd_shards_init() got
 */
void reventfd_shards_exit(void)
{
	kmem_cache_destroy(shards_cache);
}
