// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many wakers at once under the shared lock, on a queue whose waiters come,
 * are interrupted, and go: each waiter is claimed by one of them, and each
 * event finds somebody.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "../include/reventfd_queue.h"
#include "rounds.h"

#define WAKERS	4
#define WAITERS	12
#define ROUNDS	many(300)
#define EVENTS	2000

struct waker {
	struct reventfd_queue *queue;
	/* All wakers start when the last has come. */
	atomic_t *missing;
	int times;
	atomic_t *events;
	unsigned int claimed;
	struct completion done;
};

static int wake_singly(void *arg)
{
	struct waker *w = arg;
	unsigned long flags;

	atomic_dec(w->missing);
	while (atomic_read(w->missing))
		cond_resched();
	for (int i = 0; i < w->times; i++) {
		if (w->events)
			atomic_inc_return(w->events);
		reventfd_shared_lock(&w->queue->lock, flags);
		w->claimed += reventfd_queue_wake(w->queue, &w->queue->readers, 1, EPOLLIN);
		reventfd_shared_unlock(&w->queue->lock, flags);
		cond_resched();
	}
	kthread_complete_and_exit(&w->done, 0);
}

static void start_wakers(struct kunit *test, struct waker *waker, struct reventfd_queue *q,
			 atomic_t *missing, atomic_t *events, int times)
{
	struct task_struct *task;

	atomic_set(missing, WAKERS);
	for (int i = 0; i < WAKERS; i++) {
		waker[i] = (struct waker) {
			.queue = q, .missing = missing, .times = times, .events = events,
		};
		init_completion(&waker[i].done);
		task = kthread_run(wake_singly, &waker[i], "waker/%d", i);
		if (IS_ERR(task)) {
			KUNIT_FAIL(test, "no thread for a waker");
			atomic_dec(missing);
			complete(&waker[i].done);
		}
	}
}

static unsigned int finish_wakers(struct waker *waker)
{
	unsigned int claimed = 0;

	for (int i = 0; i < WAKERS; i++) {
		wait_for_completion(&waker[i].done);
		claimed += waker[i].claimed;
	}
	return claimed;
}

/*
 * As many claims as waiters, made by all wakers at once. Had one been claimed
 * twice, another would be left.
 */
static void no_waiter_is_claimed_twice(struct kunit *test)
{
	struct reventfd_waiter waiter[WAITERS];
	struct waker waker[WAKERS];
	struct reventfd_queue q;
	atomic_t missing;

	reventfd_queue_init(&q);
	for (int i = 0; i < WAITERS; i++)
		list_add_tail(&waiter[i].link, &q.readers);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < WAITERS; i++)
			WRITE_ONCE(waiter[i].task, current);
		start_wakers(test, waker, &q, &missing, NULL, WAITERS / WAKERS);
		KUNIT_EXPECT_EQ(test, finish_wakers(waker), WAITERS);
		for (int i = 0; i < WAITERS; i++)
			KUNIT_EXPECT_NULL(test, READ_ONCE(waiter[i].task));
	}
}

struct crowd {
	struct reventfd_queue queue;
	atomic_t events;
	atomic_t taken;
	atomic_t interrupted;
	/* Set before the last signal, so that who flushes it knows. */
	bool stop;
	struct task_struct *task[WAITERS];
};

static bool event_there(void *arg)
{
	struct crowd *c = arg;

	return atomic_read(&c->events) > 0;
}

static bool take_event(void *arg)
{
	struct crowd *c = arg;

	return atomic_dec_if_positive(&c->events) >= 0;
}

static const struct reventfd_wait_ops event_ops = {
	.ready = event_there,
	.attempt = take_event,
};

static int wait_until_stopped(void *arg)
{
	struct crowd *c = arg;

	allow_signal(SIGUSR1);
	while (!READ_ONCE(c->stop)) {
		if (reventfd_queue_wait(&c->queue, &c->queue.readers, &event_ops, c) == 0) {
			atomic_inc(&c->taken);
		} else {
			atomic_inc(&c->interrupted);
			flush_signals(current);
		}
	}
	return 0;
}

/*
 * Interrupts one waiter after the other until all events are taken. After the
 * wakers are done nobody but a handed-on claim can wake for an event that is
 * left, so at the end there are no more interruptions either.
 */
static void interrupted_waiters_lose_no_event(struct kunit *test)
{
	struct crowd *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct waker waker[WAKERS];
	atomic_t missing;

	KUNIT_ASSERT_NOT_NULL(test, c);
	reventfd_queue_init(&c->queue);
	for (int i = 0; i < WAITERS; i++) {
		c->task[i] = kthread_run(wait_until_stopped, c, "waiter/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(c->task[i]));
		/* It may be gone before it is stopped. */
		get_task_struct(c->task[i]);
	}
	start_wakers(test, waker, &c->queue, &missing, &c->events, EVENTS);
	for (int i = 0; atomic_read(&c->taken) < WAKERS * EVENTS / 2; i++) {
		send_sig(SIGUSR1, c->task[i % WAITERS], 1);
		cond_resched();
	}
	finish_wakers(waker);
	while (atomic_read(&c->taken) < WAKERS * EVENTS)
		cond_resched();

	KUNIT_EXPECT_GT(test, atomic_read(&c->interrupted), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->events), 0);
	WRITE_ONCE(c->stop, true);
	for (int i = 0; i < WAITERS; i++) {
		send_sig(SIGUSR1, c->task[i], 1);
		kthread_stop(c->task[i]);
		put_task_struct(c->task[i]);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&c->taken), WAKERS * EVENTS);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(no_waiter_is_claimed_twice),
	KUNIT_CASE(interrupted_waiters_lose_no_event),
	{}
};

static struct kunit_suite suite = {
	.name = "reventfd_wakers",
	.test_cases = cases,
};

kunit_test_suite(suite);
