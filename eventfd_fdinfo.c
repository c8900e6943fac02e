// SPDX-License-Identifier: GPL-2.0-only
/*
 * What /proc/PID/fdinfo/FD says.
 *
 * One snapshot of atomics, printed afterwards: a reader takes none of the
 * counter's locks, and holds nothing while it formats. The values are taken
 * one after the other. Each is exact, but for what is a sum of parts while these
 * change: the writes, and the count of a sharded counter.
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
	s->count = reventfd_counter_glance(&ctx->counter);
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
	/* Much cheaper than formats, and there are many. */
	seq_put_decimal_ull(m, "reventfd-rate: ", s.limit.rate);
	seq_put_decimal_ull(m, "\nreventfd-burst: ", s.limit.burst);
	seq_put_decimal_ull(m, "\nreventfd-wake-only: ",
			    !!(s.limit.flags & REVENTFD_LIMIT_WAKE_ONLY));
	seq_put_decimal_ull(m, "\nreventfd-ready: ", s.ready);
	seq_put_decimal_ull(m, "\nreventfd-owed: ", s.owed);
	seq_put_decimal_ull(m, "\nreventfd-writes: ", s.stats.writes);
	seq_put_decimal_ull(m, "\nreventfd-reads: ", s.stats.reads);
	seq_put_decimal_ull(m, "\nreventfd-wakeups: ", s.stats.wakeups);
	seq_put_decimal_ull(m, "\nreventfd-deferred: ", s.stats.deferred);
	seq_put_decimal_ull(m, "\nreventfd-timer-fires: ", s.stats.timer_fires);
	seq_put_decimal_ull(m, "\nreventfd-shards: ",
			    ctx->counter.shards ? reventfd_shards_number() : 0);
	seq_putc(m, '\n');
}

#endif
