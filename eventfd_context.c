// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a counter: from a slab cache of its own, charged to the memory
 * cgroup of who makes it, to the moment its last user is gone.
 */
#include <linux/idr.h>
#include <linux/slab.h>

#include "reventfd_ctx.h"

static struct kmem_cache *ctx_cache;
static DEFINE_IDA(ctx_ids);

/**
 * reventfd_ctx_new - make a counter
 * @count: its initial value
 * @semaphore: whether a read takes one event instead of all
 *
 * Return: the counter, or an error pointer: -ENOMEM, or -ENOSPC when all ids
 * are in use.
 */
struct reventfd_ctx *reventfd_ctx_new(u64 count, bool semaphore)
{
	struct reventfd_ctx *ctx;
	int id;

	ctx = kmem_cache_alloc(ctx_cache, GFP_KERNEL);
	if (!ctx)
		return ERR_PTR(-ENOMEM);

	/* Not charged: the ids of many cgroups share one bitmap. */
	id = ida_alloc(&ctx_ids, GFP_KERNEL);
	if (id < 0) {
		kmem_cache_free(ctx_cache, ctx);
		return ERR_PTR(id);
	}

	ctx->id = id;
	ctx->semaphore = semaphore;
	reventfd_counter_init(&ctx->counter, count);
	reventfd_queue_init(&ctx->queue);
	reventfd_limiter_init(ctx);
	return ctx;
}

/**
 * reventfd_ctx_free - the end of a counter
 * @ctx: the counter, which nobody can reach any more but its own timer
 */
void reventfd_ctx_free(struct reventfd_ctx *ctx)
{
	reventfd_limiter_stop(ctx);
	ida_free(&ctx_ids, ctx->id);
	kmem_cache_free(ctx_cache, ctx);
}

/**
 * reventfd_ctx_init - get ready to make counters
 *
 * Return: 0 or -ENOMEM.
 */
int __init reventfd_ctx_init(void)
{
	ctx_cache = KMEM_CACHE(reventfd_ctx, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return ctx_cache ? 0 : -ENOMEM;
}

/**
 * reventfd_ctx_exit - give back what reventfd_ctx_init() got
 *
 * No counter is left: each open file holds the module.
 */
void reventfd_ctx_exit(void)
{
	kmem_cache_destroy(ctx_cache);
	ida_destroy(&ctx_ids);
}
