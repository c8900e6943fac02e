/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REVENTFD_SHARDS_H
#define _REVENTFD_SHARDS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct reventfd_shard - what producers of one CPU have added
 * @lock: the shard's lock; event_shards.c's head says who holds it how
 * @count: events written here and not yet read, at most @share; changed under
 *	@lock, looked at by anybody
 * @share: this shard's part of the most that a counter holds; constant
 * @writes: successful adds made here; changed under @lock, looked at by anybody
 * @reads: successful takes, as @writes. Those that go over all shards are
 *	counted in the first.
 */
struct reventfd_shard {
	spinlock_t lock;	/* nests inside gather */
	atomic64_t count;
	u64 share;
	atomic64_t writes;
	atomic64_t reads;
} ____cacheline_aligned_in_smp;

/**
 * struct reventfd_shards - a count that is kept in parts
 * @gather: held by whoever takes more than one shard's lock
 * @overflow: 1 if an in-kernel signal went past what the shares hold, else 0;
 *	changed with all the locks held, looked at by anybody
 * @shard: the parts, as many as reventfd_shards_init() found fit
 */
struct reventfd_shards {
	spinlock_t gather;	/* outside all shards' locks */
	atomic64_t overflow;
	struct reventfd_shard shard[];
};

struct reventfd_shards *reventfd_shards_new(u64 count);
void reventfd_shards_free(struct reventfd_shards *s);
bool reventfd_shards_add(struct reventfd_shards *s, u64 n);
u64 reventfd_shards_add_saturating(struct reventfd_shards *s, u64 n);
u64 reventfd_shards_take_one(struct reventfd_shards *s);
u64 reventfd_shards_take_all(struct reventfd_shards *s);
u64 reventfd_shards_read(struct reventfd_shards *s);
u64 reventfd_shards_poll(struct reventfd_shards *s);
u64 reventfd_shards_glance(struct reventfd_shards *s);
void reventfd_shards_stats(struct reventfd_shards *s, u64 *writes, u64 *reads);
unsigned int reventfd_shards_number(void);
int reventfd_shards_init(const char *name);
void reventfd_shards_exit(void);

#endif /* _REVENTFD_SHARDS_H */
