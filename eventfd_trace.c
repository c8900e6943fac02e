// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tracing shows: the tracepoints of trace/events/reventfd.h, filled in.
 *
 * They are called wherever the counter's own work is done: in any context a
 * signal may come from, with the queue's or the pollers' lock held. So nothing
 * here takes a lock, and the count is a glance, which need not be the one that
 * an event of another CPU left.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>

#include "reventfd_ctx.h"

#define CREATE_TRACE_POINTS
#include "reventfd_trace.h"

/**
 * reventfd_traced_write - events were added
 * @ctx: the counter
 * @n: how many
 */
void __cold reventfd_traced_write(struct reventfd_ctx *ctx, u64 n)
{
	trace_write(ctx->id, n, reventfd_counter_glance(&ctx->counter),
		    atomic_read(&ctx->limiter.owed));
}

/**
 * reventfd_traced_wake - consumers are about to be woken
 * @ctx: the counter, its queue's lock or its pollers' held
 */
void __cold reventfd_traced_wake(struct reventfd_ctx *ctx)
{
	/* Whoever wakes has passed the barrier before it looked for waiters. */
	bool pollers = waitqueue_active(&ctx->queue.pollers);

	trace_wake(ctx->id, reventfd_counter_glance(&ctx->counter),
		   !list_empty(&ctx->queue.readers), pollers);
}

/**
 * reventfd_traced_defer - a wakeup is owed from now on
 * @ctx: the counter
 * @due: when its token will be there, ns of CLOCK_MONOTONIC
 */
void __cold reventfd_traced_defer(struct reventfd_ctx *ctx, u64 due)
{
	u64 now = ktime_get_ns();

	trace_defer(ctx->id, reventfd_counter_glance(&ctx->counter),
		    due > now ? due - now : 0);
}

/**
 * reventfd_traced_expire - the timer expired
 * @ctx: the counter, in its timer's function
 */
void __cold reventfd_traced_expire(struct reventfd_ctx *ctx)
{
	struct reventfd_limiter *lim = &ctx->limiter;
	u64 now = ktime_get_ns(), due;

	/* It may be started for a newer debt meanwhile; that one's time is as good to show. */
	due = ktime_to_ns(data_race(hrtimer_get_expires(&lim->timer)));
	trace_expire(ctx->id, reventfd_counter_glance(&ctx->counter),
		     now > due ? now - due : 0, atomic_read(&lim->owed));
}

/**
 * reventfd_traced_drain - a read took events
 * @ctx: the counter
 * @n: how many
 */
void __cold reventfd_traced_drain(struct reventfd_ctx *ctx, u64 n)
{
	trace_drain(ctx->id, n, reventfd_counter_glance(&ctx->counter));
}
