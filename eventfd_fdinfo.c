// SPDX-License-Identifier: GPL-2.0-only
/*
 * What /proc/PID/fdinfo/FD says.
 *
 * One snapshot of atomics, printed afterwards: a reader takes none of the
 * counter's locks, and holds nothing while it formats. The
 * values are each exact, and taken one after the other.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>

#include "reventfd_ctx.h"

#ifdef CONFIG_PROC_FS

struct snapshot {
	u64 count;
	bool ready;
	bool owed;
	struct reventfd_limit limit;
	struct reventfd_stats stats;
};

static void take_snapshot(struct reventfd_ctx *ctx, struct snapshot *s)
{
	s->count = reventfd_counter_read(&ctx->counter);
	s->ready = reventfd_readable(ctx, s->count);
	s->owed = atomic_read(&ctx->limiter.owed);
	reventfd_limiter_get(ctx, &s->limit);
	reventfd_get_stats(ctx, &s->stats);
}

/**
 * reventfd_show_fdinfo - print the counter's state
 * @m: where to
 * @file: the open file
 *
 * First eventfd's own lines, for tools that know those, then ours.
 */
void reventfd_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct reventfd_ctx *ctx = file->private_data;
	struct snapshot s;

	take_snapshot(ctx, &s);

	seq_printf(m, "eventfd-count: %16llx\n", s.count);
	seq_printf(m, "eventfd-id: %d\n", ctx->id);
	seq_printf(m, "eventfd-semaphore: %d\n", ctx->semaphore);
	seq_printf(m, "reventfd-rate: %u\n", s.limit.rate);
	seq_printf(m, "reventfd-burst: %u\n", s.limit.burst);
	seq_printf(m, "reventfd-wake-only: %d\n",
		   !!(s.limit.flags & REVENTFD_LIMIT_WAKE_ONLY));
	seq_printf(m, "reventfd-ready: %d\n", s.ready);
	seq_printf(m, "reventfd-owed: %d\n", s.owed);
	seq_printf(m, "reventfd-writes: %llu\n", s.stats.writes);
	seq_printf(m, "reventfd-reads: %llu\n", s.stats.reads);
	seq_printf(m, "reventfd-wakeups: %llu\n", s.stats.wakeups);
	seq_printf(m, "reventfd-deferred: %llu\n", s.stats.deferred);
	seq_printf(m, "reventfd-timer-fires: %llu\n", s.stats.timer_fires);
}

#endif
