// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a counter: from a slab cache of its own, charged to the memory
 * cgroup of who makes it, to the moment its last user is gone.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/idr.h>
#include <linux/slab.h>

#include "reventfd_ctx.h"

static struct kmem_cache *ctx_cache __ro_after_init;
static DEFINE_IDA(ctx_ids);

/**
 * reventfd_ctx_new - make a counter
 * @count: its initial value
 * @semaphore: whether a read takes one event instead of all
 * @sharded: whether the count is kept in parts, a part for each CPU
 *
 * Return: the counter, with the reference that its file will hold, or an
 * error pointer: -ENOMEM, or -ENOSPC when all ids are in use.
 */
struct reventfd_ctx *reventfd_ctx_new(u64 count, bool semaphore, bool sharded)
{
	struct reventfd_ctx *ctx;
	int err, id;

	ctx = kmem_cache_alloc(ctx_cache, GFP_KERNEL);
	if (!ctx)
		return ERR_PTR(-ENOMEM);

	err = reventfd_counter_init(&ctx->counter, count, sharded);
	if (err)
		goto free_ctx;

	/* Not charged: the ids of many cgroups share one bitmap. */
	id = ida_alloc(&ctx_ids, GFP_KERNEL);
	if (id < 0) {
		err = id;
		goto destroy_counter;
	}

	ctx->id = id;
	ctx->semaphore = semaphore;
	atomic_set(&ctx->refused, 0);
	kref_init(&ctx->ref);
	reventfd_queue_init(&ctx->queue);
	reventfd_limiter_init(ctx);
	return ctx;

destroy_counter:
	reventfd_counter_destroy(&ctx->counter);
free_ctx:
	kmem_cache_free(ctx_cache, ctx);
	return ERR_PTR(err);
}

static void ctx_free(struct kref *ref)
{
	struct reventfd_ctx *ctx = container_of(ref, struct reventfd_ctx, ref);

	ida_free(&ctx_ids, ctx->id);
	reventfd_counter_destroy(&ctx->counter);
	kmem_cache_free(ctx_cache, ctx);
}

/**
 * reventfd_ctx_put - give a reference to a counter back
 * @ctx: the counter
 *
 * In any context where a spinlock_t may be taken: on PREEMPT_RT not in hard
 * interrupt context, nor with interrupts or preemption off.
 */
void reventfd_ctx_put(struct reventfd_ctx *ctx)
{
	kref_put(&ctx->ref, ctx_free);
}
EXPORT_SYMBOL_GPL(reventfd_ctx_put);

/**
 * reventfd_ctx_init - get ready to make counters
 *
 * Return: 0 or -ENOMEM.
 */
int __init reventfd_ctx_init(void)
{
	int err;

	err = reventfd_shards_init("reventfd_shards");
	if (err)
		return err;

	ctx_cache = KMEM_CACHE(reventfd_ctx, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	if (!ctx_cache) {
		reventfd_shards_exit();
		return -ENOMEM;
	}
	return 0;
}

/**
 * reventfd_ctx_exit - give back what reventfd_ctx_init() got
 *
 * No counter is left: each open file holds the module, and so does each
 * module that has references.
 */
void reventfd_ctx_exit(void)
{
	kmem_cache_destroy(ctx_cache);
	reventfd_shards_exit();
	ida_destroy(&ctx_ids);
}
