/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REVENTFD_LIMITER_H
#define _REVENTFD_LIMITER_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/hrtimer.h>
#include <linux/types.h>
#include <uapi/linux/reventfd.h>

/**
 * struct reventfd_bucket - a token bucket, kept as the time it is paid up to
 * @paid_until: the theoretical arrival time of the next token, ns of
 *	CLOCK_MONOTONIC; an atomic
 * @interval: ns from one token to the next; protected by the queue's lock
 * @tolerance: ns by which @paid_until may run ahead of the clock, which is
 *	what makes a burst; protected by the queue's lock
 */
struct reventfd_bucket {
	atomic64_t paid_until;
	u64 interval;
	u64 tolerance;
};

/* In limiter.setting: readiness is not gated. */
#define REVENTFD_SETTING_WAKE_ONLY	BIT_ULL(31)

/**
 * struct reventfd_limiter - when a wakeup is due
 * @setting: the limit as set, rate, burst and flags in one word, so that
 *	anybody reads it whole without a lock; 0: no limit. Changed under the
 *	queue's lock held exclusive and the pollers' lock, so a waker that
 *	holds either is kept from waking by a setting that is no more.
 * @owed: 1 while a wakeup is owed and @timer will pay it; an atomic
 * @granted: wakeups granted so far; an atomic
 * @seen: the value of @granted that the drain which stored last had sampled;
 *	an atomic
 * @bucket: the tokens
 * @timer: armed while @owed, for the instant the next token exists
 * @wakeups: see struct reventfd_stats; an atomic, as are the next two
 * @deferred: see struct reventfd_stats
 * @fires: see struct reventfd_stats
 */
struct reventfd_limiter {
	atomic64_t setting;
	atomic_t owed;
	atomic64_t granted;
	atomic64_t seen;
	struct reventfd_bucket bucket;
	struct hrtimer timer;
	atomic64_t wakeups;
	atomic64_t deferred;
	atomic64_t fires;
};

struct reventfd_ctx;

void reventfd_bucket_set(struct reventfd_bucket *b, u32 rate, u32 burst);
u64 reventfd_bucket_take(struct reventfd_bucket *b, u64 now);

void reventfd_limiter_init(struct reventfd_ctx *ctx);
void reventfd_limiter_stop(struct reventfd_ctx *ctx);
void reventfd_limiter_set(struct reventfd_ctx *ctx, const struct reventfd_limit *limit);
void reventfd_limiter_get(struct reventfd_ctx *ctx, struct reventfd_limit *limit);

void reventfd_announce_now(struct reventfd_ctx *ctx, u64 n);
u64 reventfd_drain(struct reventfd_ctx *ctx);

#endif /* _REVENTFD_LIMITER_H */
