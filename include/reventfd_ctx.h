/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REVENTFD_CTX_H
#define _REVENTFD_CTX_H

#include <linux/seq_file.h>

#include "reventfd_counter.h"
#include "reventfd_limiter.h"
#include "reventfd_queue.h"

/**
 * struct reventfd_ctx - one counter, behind one open file
 * @counter: how its events add up
 * @queue: who waits for them
 * @limiter: when they are woken
 * @semaphore: a read takes one event instead of all; constant
 * @id: for /proc/PID/fdinfo, unique among all that are open; constant
 *
 * It lives from open, or the command that makes it, to the release of its
 * file: everybody who uses it holds the file, except the limiter's timer,
 * which release stops.
 */
struct reventfd_ctx {
	struct reventfd_counter counter;
	struct reventfd_queue queue;
	struct reventfd_limiter limiter;
	bool semaphore;
	int id;
};

static inline void reventfd_get_stats(struct reventfd_ctx *ctx, struct reventfd_stats *stats)
{
	*stats = (struct reventfd_stats) {
		.writes = atomic64_read(&ctx->counter.writes),
		.reads = atomic64_read(&ctx->counter.reads),
		.wakeups = atomic64_read(&ctx->limiter.wakeups),
		.deferred = atomic64_read(&ctx->limiter.deferred),
		.timer_fires = atomic64_read(&ctx->limiter.fires),
	};
}

struct reventfd_ctx *reventfd_ctx_new(u64 count, bool semaphore);
void reventfd_ctx_free(struct reventfd_ctx *ctx);
int reventfd_ctx_init(void);
void reventfd_ctx_exit(void);

long reventfd_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#ifdef CONFIG_PROC_FS
void reventfd_show_fdinfo(struct seq_file *m, struct file *file);
#endif

#endif /* _REVENTFD_CTX_H */
