/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REVENTFD_COUNTER_H
#define _REVENTFD_COUNTER_H

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/types.h>

/* The largest count that writes can reach; one more is eventfd's overflow. */
#define REVENTFD_COUNT_MAX	(ULLONG_MAX - 1)

/**
 * struct reventfd_counter - how events add up
 * @count: events written and not yet read
 * @writes: successful adds. It shares @count's cache line, which a writer
 *	owns anyway, so that counting writes touches no further one.
 * @reads: successful takes
 *
 * All are atomics: no lock protects them.
 */
struct reventfd_counter {
	atomic64_t count;
	atomic64_t writes;
	atomic64_t reads;
};

void reventfd_counter_init(struct reventfd_counter *c, u64 count);
bool reventfd_counter_add(struct reventfd_counter *c, u64 n);
u64 reventfd_counter_take_one(struct reventfd_counter *c);
u64 reventfd_counter_take_all(struct reventfd_counter *c);

static inline u64 reventfd_counter_read(const struct reventfd_counter *c)
{
	return atomic64_read(&c->count);
}

/* Whether @n more fit on a count of @count. */
static inline bool reventfd_count_fits(u64 count, u64 n)
{
	return ULLONG_MAX - count > n;
}

#endif /* _REVENTFD_COUNTER_H */
