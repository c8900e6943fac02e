/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing, as the other files use it. While it is off, each place is one
 * instruction that does nothing and that the kernel replaces by a jump when it
 * is turned on. The jump leads to a call, and everything that is looked up only
 * to be traced is looked up behind it, so that the caller's own path saves no
 * register for it.
 */
#ifndef _REVENTFD_TRACE_H
#define _REVENTFD_TRACE_H

#include <trace/events/reventfd.h>

struct reventfd_ctx;

void reventfd_traced_write(struct reventfd_ctx *ctx, u64 n);
void reventfd_traced_wake(struct reventfd_ctx *ctx);
void reventfd_traced_defer(struct reventfd_ctx *ctx, u64 due);
void reventfd_traced_expire(struct reventfd_ctx *ctx);
void reventfd_traced_drain(struct reventfd_ctx *ctx, u64 n);

/* @n events have been added, nobody has been told yet. */
static inline void reventfd_trace_write(struct reventfd_ctx *ctx, u64 n)
{
	if (trace_write_enabled())
		reventfd_traced_write(ctx, n);
}

/* Consumers are about to be woken; afterwards they may be ahead in the trace. */
static inline void reventfd_trace_wake(struct reventfd_ctx *ctx)
{
	if (trace_wake_enabled())
		reventfd_traced_wake(ctx);
}

/* A wakeup is owed, and the timer about to be started for @due. */
static inline void reventfd_trace_defer(struct reventfd_ctx *ctx, u64 due)
{
	if (trace_defer_enabled())
		reventfd_traced_defer(ctx, due);
}

/* In the timer's function, which has done nothing yet. */
static inline void reventfd_trace_expire(struct reventfd_ctx *ctx)
{
	if (trace_expire_enabled())
		reventfd_traced_expire(ctx);
}

/* A read took @n events. */
static inline void reventfd_trace_drain(struct reventfd_ctx *ctx, u64 n)
{
	if (trace_drain_enabled())
		reventfd_traced_drain(ctx, n);
}

#endif /* _REVENTFD_TRACE_H */
