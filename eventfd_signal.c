// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other modules may do with a counter: hold it, and signal it. The
 * counterpart of eventfd_ctx_fdget(), eventfd_ctx_put() and eventfd_signal().
 */
#include <linux/bug.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/fs.h>

#include "reventfd_ctx.h"
#include "reventfd_trace.h"

/**
 * reventfd_ctx_fdget - take a reference to the counter behind a descriptor
 * @fd: a descriptor of the calling process
 *
 * The reference outlives the descriptor. A counter whose file is gone can
 * still be signalled; nobody is there to be told.
 *
 * Return: the counter, or an error pointer: -EBADF if @fd is no descriptor,
 * -EINVAL if it is none of a reventfd.
 */
struct reventfd_ctx *reventfd_ctx_fdget(int fd)
{
	struct reventfd_ctx *ctx;
	struct file *file;

	file = fget(fd);
	if (!file)
		return ERR_PTR(-EBADF);

	if (file->f_op == &reventfd_fops) {
		ctx = file->private_data;
		kref_get(&ctx->ref);
	} else {
		ctx = ERR_PTR(-EINVAL);
	}
	fput(file);
	return ctx;
}
EXPORT_SYMBOL_GPL(reventfd_ctx_fdget);

/* With shards, or while it is traced. */
static noinline u64 signal_slowly(struct reventfd_ctx *ctx, u64 n)
{
	u64 added = reventfd_counter_add_saturating(&ctx->counter, n);

	reventfd_trace_write(ctx, added);
	reventfd_announce(ctx, added);
	return added;
}

static noinline u64 announce_added(struct reventfd_ctx *ctx, u64 added)
{
	reventfd_announce_now(ctx, added);
	return added;
}

/**
 * reventfd_signal - add events to a counter, and wake for them when it is due
 * @ctx: the counter
 * @n: how many events
 *
 * From any context that may call eventfd_signal(): it does not sleep, and may
 * be called with interrupts off or from one. On PREEMPT_RT only where a
 * spinlock_t may be taken: not in hard interrupt context, nor with interrupts
 * or preemption off. Not from where reventfd_signal_allowed() says no: there
 * it warns and adds nothing.
 *
 * Return: how many events were added. That is less than @n if the counter
 * overflows: it then stays at ULLONG_MAX until it is read, and poll() says
 * %EPOLLERR.
 */
u64 reventfd_signal(struct reventfd_ctx *ctx, u64 n)
{
	u64 added;

	if (WARN_ON_ONCE(!reventfd_signal_allowed()))
		return 0;

	/* What calls another function does so last, so that the rest saves no registers. */
	if (unlikely(ctx->counter.shards) || trace_write_enabled())
		return signal_slowly(ctx, n);

	added = reventfd_counter_add_saturating(&ctx->counter, n);
	if (unlikely(reventfd_must_announce(ctx)))
		return announce_added(ctx, added);
	return added;
}
EXPORT_SYMBOL_GPL(reventfd_signal);
