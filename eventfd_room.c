// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room: how a producer whose events do not fit gets to know that they do.
 *
 * Its write waits among the queue's writers, all of whom are told by each
 * read: which of them fit now is theirs to find out. Or it does not wait and
 * fails with EAGAIN, and its program waits for EPOLLOUT.
 *
 * Without a limit each read is an edge of EPOLLOUT, as an eventfd's is. With
 * one that would undo the limit: a consumer that watches for both directions
 * with edges would be woken by each of its own reads, find what has come
 * meanwhile, read that and be woken again, for as long as there are events. So
 * there a read is an edge only if somebody may wait for it:
 *
 * - poll() says EPOLLOUT when there is room for 1. One who was told that there
 *   is none has seen a count that left none, and under a limit a read takes
 *   all: between two of them the count only grows. The next read takes at
 *   least what was seen.
 *
 * - More than 1 may not fit although poll() says EPOLLOUT. A write that gave up
 *   leaves a note, which the next read takes away and makes an edge of:
 *
 *	producer			consumer
 *	--------			--------
 *	leave a note			take
 *	full barrier (the exchange)	full barrier (the take)
 *	try again			look for the note
 *
 * At least one sees what the other did: either the events fit after all, or the
 * consumer finds the note. It takes the note away before it tells: who gives up
 * later leaves another, for a read that is yet to come. It does both under the
 * queue's lock: were it preempted in between, other reads would find no note and
 * tell nobody. A note says not who left it, or how many did, so such an edge is
 * for all who watch, of those that are exclusive, too: no other read may follow
 * that would wake the next.
 *
 * A read without a limit leaves the note where it is, so the first read under a
 * limit may be an edge for nobody.
 */
#include "reventfd_ctx.h"

/* Who waits in this call and for what. */
struct blocked {
	struct reventfd_ctx *ctx;
	u64 n;
};

static bool fits(void *arg)
{
	struct blocked *b = arg;

	return reventfd_count_fits(reventfd_counter_read(&b->ctx->counter), b->n);
}

static bool add(void *arg)
{
	struct blocked *b = arg;

	return reventfd_counter_add(&b->ctx->counter, b->n);
}

static const struct reventfd_wait_ops room_ops = {
	.ready = fits,
	.attempt = add,
};

/**
 * reventfd_add_when_room - add events that did not fit
 * @ctx: the counter
 * @n: how many
 * @nowait: whether to fail if they still do not
 *
 * Return: 0 when they have been added, -EAGAIN, or -ERESTARTSYS if a signal
 * came first.
 */
int reventfd_add_when_room(struct reventfd_ctx *ctx, u64 n, bool nowait)
{
	struct blocked b = { .ctx = ctx, .n = n };
	int err = -EAGAIN;

	if (!nowait) {
		err = reventfd_queue_wait(&ctx->queue, &ctx->queue.writers, &room_ops, &b);
		if (!err)
			return 0;
	}
	/*
	 * Leaving the note, then trying again: a full barrier, which pairs
	 * with the consumer's between taking and its look for the note:
	 * model/litmus/refused.
	 */
	atomic_xchg(&ctx->refused, 1);
	return add(&b) ? 0 : err;
}

/* Under a limit: the writers, and pollers if one of them may wait for this. */
static void wake_awaiting(struct reventfd_ctx *ctx, u64 n)
{
	struct reventfd_queue *q = &ctx->queue;

	lockdep_assert_held(&q->lock);

	reventfd_queue_claim(q, &q->writers, U64_MAX);
	/* The note goes whatever the count was: who left it is told. */
	if (atomic_xchg(&ctx->refused, 0) || !reventfd_count_fits(n, 1))
		reventfd_queue_wake_all_pollers(q, EPOLLOUT);
}

/**
 * reventfd_announce_room_now - tell producers that there is room
 * @ctx: the counter
 * @n: how many events the read took
 *
 * What reventfd_announce_room() does when somebody may be there to be told.
 */
void reventfd_announce_room_now(struct reventfd_ctx *ctx, u64 n)
{
	struct reventfd_queue *q = &ctx->queue;
	bool limited = reventfd_limited(ctx);
	unsigned long flags;

	if (list_empty(&q->writers)) {
		if (!limited) {
			reventfd_queue_wake_pollers(q, EPOLLOUT);
			return;
		}
		if (reventfd_count_fits(n, 1) && !atomic_read(&ctx->refused))
			return;
	}

	reventfd_shared_lock(&q->lock, flags);
	if (limited)
		wake_awaiting(ctx, n);
	else
		reventfd_queue_wake(q, &q->writers, U64_MAX, EPOLLOUT);
	reventfd_shared_unlock(&q->lock, flags);
}
