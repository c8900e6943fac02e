// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a signal costs. Each thread is bound to a CPU and sends its signals in
 * one go, so that a counter's cache lines and locks are the only thing that
 * threads on different CPUs can meet at.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/reventfd.h>
#include <linux/sched.h>

#include "requests.h"
#include "../../include/reventfd_compat.h"

/**
 * struct race - what the threads share
 * @threads: how many there are
 * @ready: how many of them have come to the start; an atomic
 * @go: all have, or will not
 * @start: when the last had come, which sets it
 * @done: completed by each
 */
struct race {
	unsigned int threads;
	atomic_t ready;
	bool go;
	u64 start;
	struct completion done;
};

/**
 * struct signaller - one thread
 * @race: what all share
 * @reventfd: the counter it signals, or NULL
 * @eventfd: the counter it signals otherwise
 * @signals: how often
 * @end: when it had
 */
struct signaller {
	struct race *race;
	struct reventfd_ctx *reventfd;
	struct eventfd_ctx *eventfd;
	u64 signals;
	u64 end;
} ____cacheline_aligned_in_smp;

static void line_up(struct race *race)
{
	if (atomic_inc_return(&race->ready) == race->threads) {
		race->start = ktime_get_ns();
		/* Pairs with the load below, by which the others see the start. */
		smp_store_release(&race->go, true);
	}
	/* Pairs with the store above. There may be more threads than CPUs. */
	while (!smp_load_acquire(&race->go))
		cond_resched();
}

static int signaller_run(void *arg)
{
	struct signaller *s = arg;
	struct race *race = s->race;
	u64 n = s->signals;

	line_up(race);
	if (s->reventfd)
		while (n--)
			reventfd_signal(s->reventfd, 1);
	else
		while (n--)
			reventfd_compat_eventfd_signal(s->eventfd, 1);
	s->end = ktime_get_ns();
	/* Without a way back through code that may have been unloaded. */
	kthread_complete_and_exit(&race->done, 0);
}

static int take_counter(struct signaller *s, int fd, bool eventfd)
{
	if (eventfd) {
		s->eventfd = eventfd_ctx_fdget(fd);
		return PTR_ERR_OR_ZERO(s->eventfd);
	}
	s->reventfd = reventfd_ctx_fdget(fd);
	return PTR_ERR_OR_ZERO(s->reventfd);
}

static void give_back(struct signaller *s)
{
	if (!IS_ERR_OR_NULL(s->eventfd))
		eventfd_ctx_put(s->eventfd);
	if (!IS_ERR_OR_NULL(s->reventfd))
		reventfd_ctx_put(s->reventfd);
}

static unsigned int cpu_of(unsigned int thread)
{
	unsigned int cpu, i = thread % num_online_cpus();

	for_each_online_cpu(cpu)
		if (!i--)
			return cpu;
	return 0;
}

static int start(struct signaller *s, unsigned int i)
{
	struct task_struct *task;

	task = kthread_create(signaller_run, s, "signaller/%u", i);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu_of(i));
	wake_up_process(task);
	return 0;
}

static int run(struct signaller *s, struct race *race)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < race->threads && !err; i++)
		err = start(&s[i], i);
	if (err) {
		/* Those that were started must not wait for those that were not: see line_up(). */
		smp_store_release(&race->go, true);
		i--;
	}
	while (i--)
		wait_for_completion(&race->done);
	return err;
}

/**
 * bench_signals - time signals
 * @b: the request, and the result
 *
 * Return: 0 or a negative error number.
 */
int bench_signals(struct bench_signals *b)
{
	static struct signaller s[BENCH_THREADS_MAX];
	static struct race race;
	unsigned int i;
	int err = 0;

	if (!b->threads || b->threads > BENCH_THREADS_MAX)
		return -EINVAL;

	race = (struct race) { .threads = b->threads };
	init_completion(&race.done);
	for (i = 0; i < b->threads; i++) {
		s[i] = (struct signaller) { .race = &race, .signals = b->signals };
		if (!err)
			err = take_counter(&s[i], b->fd[i], b->eventfd);
	}
	if (!err)
		err = run(s, &race);
	b->ns = 0;
	for (i = 0; i < b->threads; i++) {
		b->ns = max(b->ns, s[i].end - race.start);
		give_back(&s[i]);
	}
	return err;
}
