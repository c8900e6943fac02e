// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to keep a count per CPU and to take it together: the shards'
 * spinlocks against what is usual, counts that disabled preemption protects
 * and that only a work item on their CPU can take.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>

#include "requests.h"

/* The very code that is measured, and its parts. */
#include "../../event_shards.c"

/**
 * struct local - a CPU's count, as it is without a lock
 * @count: events; of its own CPU only
 * @room: how many more fit; constant
 * @writes: how often was added; of its own CPU only
 * @work: takes what is in @count
 */
struct local {
	u64 count;
	u64 room;
	u64 writes;
	struct work_struct work;
};

static DEFINE_PER_CPU_ALIGNED(struct local, locals);
static struct reventfd_shards *shards;
static atomic64_t taken;

static void put_one(void *unused)
{
	reventfd_shards_add(shards, 1);
	this_cpu_inc(locals.count);
}

static void take_local(struct work_struct *work)
{
	preempt_disable();
	atomic64_add(this_cpu_read(locals.count), &taken);
	this_cpu_write(locals.count, 0);
	preempt_enable();
}

static u64 take_shard(unsigned int cpu)
{
	struct reventfd_shard *shard = shard_of(shards, cpu);
	unsigned long flags;
	u64 n;

	spin_lock_irqsave(&shard->lock, flags);
	n = atomic64_read(&shard->count);
	atomic64_set(&shard->count, 0);
	count_one(&shard->reads);
	spin_unlock_irqrestore(&shard->lock, flags);
	/* As reventfd_shards_take_all(). */
	smp_mb();
	return n;
}

/* @cpu: or -1: all, as the kernel's schedule_on_each_cpu() does, but for its allocation. */
static void take_by_work(int cpu)
{
	int i;

	cpus_read_lock();
	for_each_online_cpu(i)
		if (cpu < 0 || cpu == i)
			schedule_work_on(i, per_cpu_ptr(&locals.work, i));
	for_each_online_cpu(i)
		if (cpu < 0 || cpu == i)
			flush_work(per_cpu_ptr(&locals.work, i));
	cpus_read_unlock();
}

/**
 * bench_drain - time a drain of what other CPUs have added
 * @b: the request, and the result
 *
 * Return: 0 or -EINVAL.
 */
int bench_drain(struct bench_drain *b)
{
	u64 start;

	if (b->cpu >= 0 && (b->cpu >= nr_cpu_ids || !cpu_online(b->cpu)))
		return -EINVAL;

	reventfd_shards_take_all(shards);
	take_by_work(-1);
	on_each_cpu(put_one, NULL, 1);
	atomic64_set(&taken, 0);

	switch (b->how) {
	case BENCH_SHARDS:
		start = ktime_get_ns();
		b->events = b->cpu < 0 ? reventfd_shards_take_all(shards) : take_shard(b->cpu);
		b->ns = ktime_get_ns() - start;
		return 0;
	case BENCH_WORK:
		start = ktime_get_ns();
		take_by_work(b->cpu);
		b->ns = ktime_get_ns() - start;
		b->events = atomic64_read(&taken);
		return 0;
	}
	return -EINVAL;
}

static noinline void add_preempt_off(u64 n)
{
	struct local *l;

	preempt_disable();
	l = this_cpu_ptr(&locals);
	if (n < l->room - l->count) {
		l->count += n;
		l->writes++;
	}
	preempt_enable();
}

static noinline void add_irqs_off(u64 n)
{
	unsigned long flags;
	struct local *l;

	local_irq_save(flags);
	l = this_cpu_ptr(&locals);
	if (n < l->room - l->count) {
		l->count += n;
		l->writes++;
	}
	local_irq_restore(flags);
}

static noinline void add_locked(u64 n)
{
	add_local(shards, n);
}

static noinline void add_with_barrier(u64 n)
{
	reventfd_shards_add(shards, n);
}

/**
 * bench_adds - time adds to the local count
 * @b: the request, and the result
 *
 * Return: 0 or -EINVAL.
 */
int bench_adds(struct bench_adds *b)
{
	u64 n = b->adds, start = ktime_get_ns();

	switch (b->how) {
	case BENCH_PREEMPT:
		while (n--)
			add_preempt_off(1);
		break;
	case BENCH_IRQS:
		while (n--)
			add_irqs_off(1);
		break;
	case BENCH_SHARDS:
		while (n--)
			add_locked(1);
		break;
	case BENCH_BARRIER:
		while (n--)
			add_with_barrier(1);
		break;
	default:
		return -EINVAL;
	}
	b->ns = ktime_get_ns() - start;
	return 0;
}

/**
 * bench_shards_init - make the counts
 *
 * Return: 0 or -ENOMEM.
 */
int bench_shards_init(void)
{
	unsigned int cpu;

	/* As reventfd_shards_init(), which the module itself has called, under its name. */
	shards_number = min_t(unsigned int, roundup_pow_of_two(nr_cpu_ids), SHARDS_MAX);
	shards_cache = kmem_cache_create("reventfd_bench",
					 struct_size(shards, shard, shards_number),
					 __alignof__(*shards), SLAB_HWCACHE_ALIGN, NULL);
	if (!shards_cache)
		return -ENOMEM;

	shards = reventfd_shards_new(0);
	if (!shards) {
		kmem_cache_destroy(shards_cache);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu) {
		per_cpu(locals, cpu).room = REVENTFD_COUNT_MAX;
		INIT_WORK(per_cpu_ptr(&locals.work, cpu), take_local);
	}
	return 0;
}

/**
 * bench_shards_exit - give back what bench_shards_init() got
 */
void bench_shards_exit(void)
{
	reventfd_shards_free(shards);
	kmem_cache_destroy(shards_cache);
}
