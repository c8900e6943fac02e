/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REVENTFD_CTX_H
#define _REVENTFD_CTX_H

#include <linux/kref.h>
#include <linux/seq_file.h>

#include <linux/reventfd.h>

#include "reventfd_counter.h"
#include "reventfd_limiter.h"
#include "reventfd_queue.h"

/**
 * struct reventfd_ctx - one counter, behind one open file
 * @counter: how its events add up
 * @limiter: when somebody is woken for them
 * @queue: who waits for them
 * @refused: 1 while there is a note for the next read that a write gave up for
 *	lack of room; an atomic
 * @ref: one reference for the file, one for each reventfd_ctx_fdget()
 * @semaphore: a read takes one event instead of all; constant
 * @id: for /proc/PID/fdinfo, unique among all that exist; constant
 *
 * The file's release stops the limiter for good: from then on there is nobody
 * to wake, and other modules that still hold a reference only add. Hence the
 * timer needs no reference, and the last one may go in any context where a
 * spinlock_t may be taken.
 *
 * What a producer looks at while a wakeup is owed comes first, in one line.
 */
struct reventfd_ctx {
	struct reventfd_counter counter;
	struct reventfd_limiter limiter;
	struct reventfd_queue queue;
	atomic_t refused;
	struct kref ref;
	bool semaphore;
	int id;
};

static inline bool reventfd_limited(struct reventfd_ctx *ctx)
{
	return atomic64_read(&ctx->limiter.setting) != 0;
}

/* Whether readiness is limited with the wakeups. */
static inline bool reventfd_gated(struct reventfd_ctx *ctx)
{
	u64 setting = atomic64_read(&ctx->limiter.setting);

	return setting && !(setting & REVENTFD_SETTING_WAKE_ONLY);
}

/**
 * reventfd_granted - whether the limit lets the consumer see what is there
 * @ctx: the counter
 *
 * Return: true if readiness is not gated, or a grant has not been answered.
 */
static inline bool reventfd_granted(struct reventfd_ctx *ctx)
{
	struct reventfd_limiter *lim = &ctx->limiter;

	return !reventfd_gated(ctx) || atomic64_read(&lim->granted) != atomic64_read(&lim->seen);
}

/**
 * reventfd_readable - whether poll and a blocking read may have it
 * @ctx: the counter
 * @count: its count, as read by the caller
 *
 * Return: whether there is something to read and the limit lets it be seen.
 */
static inline bool reventfd_readable(struct reventfd_ctx *ctx, u64 count)
{
	return count && reventfd_granted(ctx);
}

/*
 * Whether there is anything to be done about new events. Only under a limit
 * is a wakeup ever owed.
 */
static inline bool reventfd_must_announce(struct reventfd_ctx *ctx)
{
	return !atomic_read(&ctx->limiter.owed) &&
	       (reventfd_limited(ctx) || reventfd_queue_busy(&ctx->queue, &ctx->queue.readers));
}

/**
 * reventfd_announce - see to it that consumers are woken for new events
 * @ctx: the counter, to which they have been added
 * @n: how many
 *
 * The add was a full barrier, which pairs with that of the exchange in
 * settle_debt() and with that in change().
 */
static inline void reventfd_announce(struct reventfd_ctx *ctx, u64 n)
{
	if (reventfd_must_announce(ctx))
		reventfd_announce_now(ctx, n);
}

int reventfd_add_when_room(struct reventfd_ctx *ctx, u64 n, bool nowait);
void reventfd_announce_room_now(struct reventfd_ctx *ctx, u64 n);

/**
 * reventfd_announce_room - see to it that producers are told of room
 * @ctx: the counter, which has been drained
 * @n: how many events were taken
 *
 * The take was a full barrier, which pairs with that of waiter_publish() and
 * that of reventfd_queue_poll(): model/litmus/room.
 */
static inline void reventfd_announce_room(struct reventfd_ctx *ctx, u64 n)
{
	if (reventfd_queue_busy(&ctx->queue, &ctx->queue.writers))
		reventfd_announce_room_now(ctx, n);
}

static inline void reventfd_get_stats(struct reventfd_ctx *ctx, struct reventfd_stats *stats)
{
	u64 writes, reads;

	reventfd_counter_stats(&ctx->counter, &writes, &reads);
	*stats = (struct reventfd_stats) {
		.writes = writes,
		.reads = reads,
		.wakeups = atomic64_read(&ctx->limiter.wakeups),
		.deferred = atomic64_read(&ctx->limiter.deferred),
		.timer_fires = atomic64_read(&ctx->limiter.fires),
	};
}

struct reventfd_ctx *reventfd_ctx_new(u64 count, bool semaphore, bool sharded);
int reventfd_ctx_init(void);
void reventfd_ctx_exit(void);

extern const struct file_operations reventfd_fops;

/* Neither call needs to be punted to a thread, nor a position kept. */
#define REVENTFD_FMODE	(FMODE_NOWAIT | FMODE_STREAM)

long reventfd_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#ifdef CONFIG_PROC_FS
void reventfd_show_fdinfo(struct seq_file *m, struct file *file);
#endif

#endif /* _REVENTFD_CTX_H */
