// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a wakeup is due: token bucket, timer, and the readiness they gate.
 *
 * The bucket
 * ==========
 *
 * At rate r and burst c, any interval of d seconds sees at most c + r * d
 * tokens, of which each wakeup takes one. The bucket is a generic cell rate
 * algorithm: one 64-bit time, the instant up to which tokens have been paid
 * for, moved by compare-and-swap. A token exists if that instant lies no more
 * than (c - 1) / r ahead of the clock. There is no refill, hence no rounding
 * that adds up; 1/r is rounded up to a whole nanosecond once, when the limit is
 * set, so the bound holds.
 *
 * Debts
 * =====
 *
 * A wakeup for which there is no token is owed: limiter.owed is set and the
 * timer armed for the instant the next token exists. While a wakeup is owed,
 * a producer adds to the counter, sees that it is owed, and is done.
 *
 * A debt is settled by settle(), whoever calls: it spends a token to wake,
 * or, if somebody else was faster to the token, owes again. The timer calls
 * it when the token exists. A change of the limit calls it before it lets the
 * lock go, so that nobody finds the old debt forgotten and the event not yet
 * announced by the new limit. A drain leaves nothing to be woken for: the
 * timer finds the counter at zero. Release lifts the limit and stops the
 * timer, since nobody is left to be woken; a module that still holds the
 * counter finds nothing owed and nobody waiting.
 *
 *	producer			timer, or change of the limit
 *	--------			-----------------------------
 *	add to the counter		clear owed
 *	full barrier (the add)		full barrier (the exchange)
 *	look at owed			look at the counter
 *
 * At least one sees what the other did. If the producer sees the wakeup still
 * owed, the timer is yet to look and will find the event; if the timer has
 * looked and found nothing, the producer sees that nothing is owed and
 * settles for itself. The same argument serves for limiter.setting, which a
 * producer looks at after its add and a change of the limit stores before it
 * looks at the counter.
 *
 * Only who turns owed from 0 to 1 starts the timer, under the queue's lock.
 * The limit is changed under the lock held exclusive, so the timer cannot be
 * started for a limit that is no more. A timer that fires late for an old debt
 * finds nothing owed, or settles a newer one early, for which it needs a token
 * like everybody.
 *
 * Readiness
 * =========
 *
 * A consumer that polls and reads in a loop never sleeps if poll() tells it
 * of every event at once, so under a limit readiness is granted, too:
 *
 *	a grant		increments granted, then wakes
 *	readable	count > 0 and granted != seen
 *	a drain		samples granted, takes the count, stores the sample
 *			in seen
 *
 * An event that is in the counter after a drain was added after the drain
 * took. Its grant, given or owed, comes after that, hence after the sample,
 * and makes granted differ from seen for as long as nobody drains again.
 * Sampling after taking would let a grant slip in between and be taken for
 * answered. In this order a drain may leave a grant unanswered whose event
 * it took: then the next event is readable before its wakeup, once. So it may
 * be after two drains at once, of which the slower stores the older sample.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/time64.h>

#include "reventfd_ctx.h"
#include "reventfd_trace.h"

/*
 * No bucket runs further ahead of the clock than this, 73 years, so that
 * paid_until does not overflow in 500 years of uptime; the kernel's clock
 * itself ends after 292. A burst that would need more is still bounded by
 * what was asked for.
 */
#define TOLERANCE_MAX	BIT_ULL(61)

/* The rest of limiter.setting: burst in the upper half, rate (30 bits) below. */
#define SETTING_BURST_SHIFT	32
#define SETTING_RATE_MASK	GENMASK_ULL(29, 0)
static_assert(REVENTFD_RATE_MAX <= SETTING_RATE_MASK);

/**
 * reventfd_bucket_set - fill a bucket and set its limit
 * @b: the bucket
 * @rate: tokens per second, 1 to %REVENTFD_RATE_MAX
 * @burst: tokens it holds, at least 1
 *
 * Nobody takes a token meanwhile: a counter's queue's lock is held exclusive.
 */
void reventfd_bucket_set(struct reventfd_bucket *b, u32 rate, u32 burst)
{
	b->interval = ((u32)NSEC_PER_SEC + rate - 1) / rate;
	b->tolerance = min(b->interval * (burst - 1), TOLERANCE_MAX);
	atomic64_set(&b->paid_until, 0);
}

/**
 * reventfd_bucket_take - take a token
 * @b: the bucket
 * @now: the time, ns of CLOCK_MONOTONIC
 *
 * Of any number of callers at once, each token goes to one. The bucket is not
 * set meanwhile: a counter's queue's lock is held.
 *
 * Return: 0 if a token was taken, else the time at which there will be one.
 */
u64 reventfd_bucket_take(struct reventfd_bucket *b, u64 now)
{
	s64 paid_until = atomic64_read(&b->paid_until);
	u64 start;

	do {
		start = max_t(u64, paid_until, now);
		if (start - now > b->tolerance)
			return start - b->tolerance;
	} while (!atomic64_try_cmpxchg(&b->paid_until, &paid_until, start + b->interval));

	return 0;
}

static void count_wakeup(struct reventfd_ctx *ctx)
{
	/* Before who is woken can ask. */
	atomic64_inc(&ctx->limiter.wakeups);
	reventfd_trace_wake(ctx);
}

static void wake_consumers(struct reventfd_ctx *ctx, u64 n)
{
	struct reventfd_queue *q = &ctx->queue;

	count_wakeup(ctx);
	/* A reader of a plain counter takes all there is: one is enough. */
	reventfd_queue_wake(q, &q->readers, ctx->semaphore ? n : !!n, EPOLLIN);
}

static void owe(struct reventfd_ctx *ctx, u64 due)
{
	struct reventfd_limiter *lim = &ctx->limiter;

	lockdep_assert_held(&ctx->queue.lock);

	/*
	 * From here to the started timer, producers rely on it without taking
	 * the lock, so nobody who inherits priority through the lock pushes
	 * this task on: it must not be preempted. Only PREEMPT_RT, where the
	 * lock leaves preemption on, needs to be told.
	 */
	preempt_disable();
	if (!atomic_cmpxchg(&lim->owed, 0, 1)) {
		atomic64_inc(&lim->deferred);
		reventfd_trace_defer(ctx, due);
		hrtimer_start(&lim->timer, ns_to_ktime(due), HRTIMER_MODE_ABS);
	}
	preempt_enable();
}

/* Wakes the consumers for what is in the counter, now or when it is due. */
static void settle(struct reventfd_ctx *ctx, u64 n)
{
	struct reventfd_limiter *lim = &ctx->limiter;
	u64 due;

	lockdep_assert_held(&ctx->queue.lock);

	if (!reventfd_limited(ctx)) {
		wake_consumers(ctx, n);
		return;
	}
	if (!reventfd_counter_glance(&ctx->counter))
		return;

	due = reventfd_bucket_take(&lim->bucket, ktime_get_ns());
	if (due) {
		owe(ctx, due);
		return;
	}
	/*
	 * Granting, then looking for pollers: a full barrier, which pairs with
	 * that of reventfd_queue_poll() and with that of waiter_publish():
	 * model/litmus/poll_grant, publish_grant.
	 */
	atomic64_inc_return(&lim->granted);
	wake_consumers(ctx, 1);
}

/* Nobody is blocked in a read. Returns whether that was all: not under a limit. */
static bool wake_pollers(struct reventfd_ctx *ctx)
{
	struct reventfd_queue *q = &ctx->queue;
	unsigned long flags;
	bool limited;

	spin_lock_irqsave(&q->pollers.lock, flags);
	limited = reventfd_limited(ctx);
	if (!limited) {
		count_wakeup(ctx);
		reventfd_queue_wake_pollers_locked(q, EPOLLIN);
	}
	spin_unlock_irqrestore(&q->pollers.lock, flags);
	return !limited;
}

/**
 * reventfd_announce_now - wake for new events, or owe it
 * @ctx: the counter, to which they have been added
 * @n: how many
 *
 * What reventfd_announce() does when it has to do something.
 */
void reventfd_announce_now(struct reventfd_ctx *ctx, u64 n)
{
	unsigned long flags;

	if (!reventfd_limited(ctx) && list_empty(&ctx->queue.readers) && wake_pollers(ctx))
		return;

	reventfd_shared_lock(&ctx->queue.lock, flags);
	settle(ctx, n);
	reventfd_shared_unlock(&ctx->queue.lock, flags);
}

static void settle_debt(struct reventfd_ctx *ctx)
{
	unsigned long flags;

	reventfd_shared_lock(&ctx->queue.lock, flags);
	/*
	 * Clearing, then looking at the counter: a full barrier, which pairs
	 * with the producer's add before it looks at owed: model/litmus/owed.
	 */
	if (atomic_xchg(&ctx->limiter.owed, 0) && reventfd_counter_glance(&ctx->counter))
		settle(ctx, 1);
	reventfd_shared_unlock(&ctx->queue.lock, flags);
}

static enum hrtimer_restart debt_due(struct hrtimer *timer)
{
	struct reventfd_ctx *ctx = container_of(timer, struct reventfd_ctx, limiter.timer);

	atomic64_inc(&ctx->limiter.fires);
	reventfd_trace_expire(ctx);
	settle_debt(ctx);
	return HRTIMER_NORESTART;
}

static __always_inline u64 drain(struct reventfd_ctx *ctx)
{
	struct reventfd_limiter *lim = &ctx->limiter;
	u64 sample, n;

	/* A semaphore has no limit. */
	if (ctx->semaphore)
		return reventfd_counter_take_one(&ctx->counter);
	if (!reventfd_gated(ctx))
		return reventfd_counter_take_all(&ctx->counter);

	/*
	 * Sampling, then taking: taking is a full barrier, or with shards
	 * releases their locks. It pairs with the add of an event that is
	 * left, which came after, and whose grant follows it:
	 * model/litmus/drain.
	 */
	sample = atomic64_read(&lim->granted);
	n = reventfd_counter_take_all(&ctx->counter);
	/* Spares producers the line where nothing was granted in between. */
	if (n && atomic64_read(&lim->seen) != sample)
		atomic64_set(&lim->seen, sample);
	return n;
}

/* Apart, so that a drain which is not traced ends with the jump to the take. */
static noinline u64 drain_traced(struct reventfd_ctx *ctx)
{
	u64 n = drain(ctx);

	if (n)
		reventfd_trace_drain(ctx, n);
	return n;
}

/**
 * reventfd_drain - take what a reader gets
 * @ctx: the counter
 *
 * Return: the value read: all events, or 1 of a semaphore; 0 if none.
 */
u64 reventfd_drain(struct reventfd_ctx *ctx)
{
	return trace_drain_enabled() ? drain_traced(ctx) : drain(ctx);
}

static void change(struct reventfd_ctx *ctx, const struct reventfd_limit *limit)
{
	struct reventfd_limiter *lim = &ctx->limiter;
	u64 setting = 0;

	reventfd_assert_exclusive(&ctx->queue.lock);

	if (limit->rate) {
		reventfd_bucket_set(&lim->bucket, limit->rate, limit->burst);
		setting = (u64)limit->burst << SETTING_BURST_SHIFT | limit->rate;
		if (limit->flags & REVENTFD_LIMIT_WAKE_ONLY)
			setting |= REVENTFD_SETTING_WAKE_ONLY;
	}
	/* Whoever still wakes pollers alone, without a limit, is done before there is one. */
	spin_lock(&ctx->queue.pollers.lock);
	atomic64_set(&lim->setting, setting);
	spin_unlock(&ctx->queue.pollers.lock);
	/*
	 * Setting and clearing, then looking at the counter: a full barrier,
	 * which pairs with the producer's add before it looks at either:
	 * model/litmus/setting, owed.
	 */
	atomic_xchg(&lim->owed, 0);
}

/**
 * reventfd_limiter_set - set, change or lift the limit
 * @ctx: the counter; not a semaphore
 * @limit: the new limit, valid
 *
 * The bucket starts full. What is in the counter is announced at once, with
 * the new bucket's first token if there is a bucket.
 */
void reventfd_limiter_set(struct reventfd_ctx *ctx, const struct reventfd_limit *limit)
{
	reventfd_exclusive_lock(&ctx->queue.lock);
	change(ctx, limit);
	if (reventfd_counter_glance(&ctx->counter))
		settle(ctx, 1);
	/*
	 * Nothing is owed now, the bucket was full. Last, so that whatever
	 * keeps this task from coming here, the wakeup is not later than the
	 * old debt was due: its timer would wait for the lock, and on
	 * PREEMPT_RT push this task on. If it runs already, it finds nothing
	 * owed when it has the lock, or a newer debt.
	 */
	hrtimer_try_to_cancel(&ctx->limiter.timer);
	reventfd_exclusive_unlock(&ctx->queue.lock);
}

/**
 * reventfd_limiter_get - say what the limit is
 * @ctx: the counter
 * @limit: is filled in; all zero if there is no limit
 */
void reventfd_limiter_get(struct reventfd_ctx *ctx, struct reventfd_limit *limit)
{
	u64 setting = atomic64_read(&ctx->limiter.setting);

	*limit = (struct reventfd_limit) {
		.rate = setting & SETTING_RATE_MASK,
		.burst = setting >> SETTING_BURST_SHIFT,
		.flags = setting & REVENTFD_SETTING_WAKE_ONLY ? REVENTFD_LIMIT_WAKE_ONLY : 0,
	};
}

/**
 * reventfd_limiter_init - start without a limit
 * @ctx: the counter
 */
void reventfd_limiter_init(struct reventfd_ctx *ctx)
{
	struct reventfd_limiter *lim = &ctx->limiter;

	atomic64_set(&lim->setting, 0);
	atomic_set(&lim->owed, 0);
	atomic64_set(&lim->granted, 0);
	atomic64_set(&lim->seen, 0);
	atomic64_set(&lim->wakeups, 0);
	atomic64_set(&lim->deferred, 0);
	atomic64_set(&lim->fires, 0);
	hrtimer_setup(&lim->timer, debt_due, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

/**
 * reventfd_limiter_stop - stop the timer for good
 * @ctx: the counter, whose file is gone: nobody can set a limit any more
 *
 * Other modules may go on to signal it. They find no limit, so nobody starts
 * the timer again.
 */
void reventfd_limiter_stop(struct reventfd_ctx *ctx)
{
	reventfd_exclusive_lock(&ctx->queue.lock);
	change(ctx, &(struct reventfd_limit) { .rate = 0 });
	reventfd_exclusive_unlock(&ctx->queue.lock);

	hrtimer_cancel(&ctx->limiter.timer);
}
