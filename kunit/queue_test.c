// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is woken. Waiters are kernel threads that wait for tickets; a waker
 * hands out tickets and claims waiters for them.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>

#include "../wait_queue.c"
#include "rounds.h"

#define WAITERS	16
#define WAKERS	4

struct hall {
	struct reventfd_queue queue;
	atomic_t tickets;
	atomic_t served;
	/* Waiters that a signal met while they found no ticket. */
	atomic_t interrupted;
	/* Attempts to take a ticket: one on entry, and one for each wakeup. */
	atomic_t attempts;
	/* Whether the ticket such a waiter is claimed for goes before it has left. */
	bool stolen;
	/* Waiters that left without a ticket. */
	atomic_t left;
	/* Times a waiter found none after it had published, so that it sleeps. */
	atomic_t asleep;
	struct task_struct *waiter[WAITERS];
};

static bool ticket_there(void *arg)
{
	struct hall *h = arg;

	if (atomic_read(&h->tickets) > 0)
		return true;
	atomic_inc(&h->asleep);
	return false;
}

static bool take_ticket(void *arg)
{
	struct hall *h = arg;

	atomic_inc(&h->attempts);
	return atomic_dec_if_positive(&h->tickets) >= 0;
}

static const struct reventfd_wait_ops ticket_ops = {
	.ready = ticket_there,
	.attempt = take_ticket,
};

static int wait_for_ticket(void *arg)
{
	struct hall *h = arg;

	if (reventfd_queue_wait(&h->queue, &h->queue.readers, &ticket_ops, h) == 0)
		atomic_inc(&h->served);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static struct hall *open_hall(struct kunit *test, int waiters)
{
	struct hall *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	reventfd_queue_init(&h->queue);
	for (int i = 0; i < waiters; i++) {
		h->waiter[i] = kthread_run(wait_for_ticket, h, "waiter/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(h->waiter[i]));
		/* One after the other, so that the queue's order is known. */
		while (atomic_read(&h->asleep) <= i)
			cond_resched();
	}
	return h;
}

static void close_hall(struct hall *h)
{
	for (int i = 0; i < WAITERS && h->waiter[i]; i++)
		kthread_stop(h->waiter[i]);
}

static unsigned int issue(struct hall *h, int tickets)
{
	unsigned long flags;
	unsigned int claimed;

	atomic_add_return(tickets, &h->tickets);
	reventfd_shared_lock(&h->queue.lock, flags);
	claimed = reventfd_queue_wake(&h->queue, &h->queue.readers, tickets, EPOLLIN);
	reventfd_shared_unlock(&h->queue.lock, flags);
	return claimed;
}

static void await(atomic_t *what, int value)
{
	while (atomic_read(what) < value)
		cond_resched();
}

static void n_tickets_wake_n_waiters(struct kunit *test)
{
	struct hall *h = open_hall(test, 5);

	KUNIT_EXPECT_EQ(test, issue(h, 2), 2);
	await(&h->served, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&h->served), 2);
	/* Five before they slept, two when they were woken; nobody else was. */
	KUNIT_EXPECT_EQ(test, atomic_read(&h->attempts), 7);
	KUNIT_EXPECT_EQ(test, issue(h, 9), 3);
	await(&h->served, 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&h->tickets), 6);
	close_hall(h);
}

static void a_claimed_waiter_is_not_claimed_again(struct kunit *test)
{
	unsigned int claimed[4];
	struct reventfd_waiter w;
	struct reventfd_queue q;
	unsigned long flags;

	reventfd_queue_init(&q);
	waiter_link(&q, &q.readers, &w);
	reventfd_shared_lock(&q.lock, flags);
	claimed[0] = reventfd_queue_wake(&q, &q.readers, 1, EPOLLIN);
	WRITE_ONCE(w.task, current);
	claimed[1] = reventfd_queue_wake(&q, &q.readers, 0, EPOLLIN);
	claimed[2] = reventfd_queue_wake(&q, &q.readers, 1, EPOLLIN);
	claimed[3] = reventfd_queue_wake(&q, &q.readers, 1, EPOLLIN);
	reventfd_shared_unlock(&q.lock, flags);

	/* The first came while it was claimed already, the second claimed none. */
	KUNIT_EXPECT_EQ(test, claimed[0], 0);
	KUNIT_EXPECT_EQ(test, claimed[1], 0);
	KUNIT_EXPECT_EQ(test, claimed[2], 1);
	KUNIT_EXPECT_EQ(test, claimed[3], 0);
	KUNIT_EXPECT_FALSE(test, current->in_eventfd);
	KUNIT_EXPECT_TRUE(test, waiter_withdraw(&w));
	waiter_unlink(&q, &w);
	KUNIT_EXPECT_FALSE(test, reventfd_queue_busy(&q, &q.readers));
}

/*
 * A waiter is claimed at the worst moment: it has found no ticket, and a
 * signal for it is pending, so it will leave. The ticket must reach the next.
 */
static bool claimed_while_leaving(void *arg)
{
	struct hall *h = arg;

	if (!signal_pending(current) || atomic_read(&h->interrupted))
		return ticket_there(arg);
	atomic_inc(&h->interrupted);
	issue(h, 1);
	if (h->stolen)
		atomic_dec(&h->tickets);
	return false;
}

static const struct reventfd_wait_ops leaving_ops = {
	.ready = claimed_while_leaving,
	.attempt = take_ticket,
};

static int leave(void *arg)
{
	struct hall *h = arg;

	allow_signal(SIGUSR1);
	if (reventfd_queue_wait(&h->queue, &h->queue.readers, &leaving_ops, h) == 0)
		atomic_inc(&h->served);
	else
		atomic_inc(&h->left);
	flush_signals(current);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* The first of two waiters is claimed, and leaves. */
static struct hall *one_leaves(struct kunit *test, bool stolen)
{
	struct hall *h = open_hall(test, 0);

	h->stolen = stolen;
	h->waiter[0] = kthread_run(leave, h, "waiter/0");
	await(&h->asleep, 1);
	h->waiter[1] = kthread_run(wait_for_ticket, h, "waiter/1");
	await(&h->asleep, 2);
	send_sig(SIGUSR1, h->waiter[0], 1);
	await(&h->left, 1);
	return h;
}

static void an_interrupted_waiter_hands_its_claim_on(struct kunit *test)
{
	struct hall *h = one_leaves(test, false);

	await(&h->served, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&h->interrupted), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&h->tickets), 0);
	close_hall(h);
}

static void a_claim_without_a_ticket_is_not_handed_on(struct kunit *test)
{
	struct hall *h = one_leaves(test, true);

	/* So the other one is there to be claimed, and was not woken before. */
	KUNIT_EXPECT_EQ(test, issue(h, 1), 1);
	await(&h->served, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&h->interrupted), 1);
	/* One on entry each, the leaver's when the signal woke it, and this one. */
	KUNIT_EXPECT_EQ(test, atomic_read(&h->attempts), 4);
	close_hall(h);
}

struct waker {
	struct hall *hall;
	atomic_t *claimed;
	int tickets;
	struct completion done;
};

static int issue_singly(void *arg)
{
	struct waker *w = arg;

	for (int i = 0; i < w->tickets; i++)
		atomic_add(issue(w->hall, 1), w->claimed);
	kthread_complete_and_exit(&w->done, 0);
}

static void parallel_wakers_wake_different_waiters(struct kunit *test)
{
	for (int round = 0; round < many(50); round++) {
		struct hall *h = open_hall(test, WAITERS);
		struct waker w[WAKERS];
		atomic_t claimed = ATOMIC_INIT(0);

		for (int i = 0; i < WAKERS; i++) {
			w[i] = (struct waker) { h, &claimed, WAITERS / WAKERS };
			init_completion(&w[i].done);
			kthread_run(issue_singly, &w[i], "waker/%d", i);
		}
		for (int i = 0; i < WAKERS; i++)
			wait_for_completion(&w[i].done);
		await(&h->served, WAITERS);
		KUNIT_EXPECT_EQ(test, atomic_read(&h->tickets), 0);
		KUNIT_EXPECT_LE(test, atomic_read(&claimed), WAITERS);
		close_hall(h);
	}
}

#define OFTEN	200
#define THIEVES	2

static int wait_often(void *arg)
{
	struct hall *h = arg;

	for (int i = 0; i < OFTEN; i++) {
		reventfd_queue_wait(&h->queue, &h->queue.readers, &ticket_ops, h);
		atomic_inc(&h->served);
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int steal(void *arg)
{
	struct hall *h = arg;

	while (!kthread_should_stop()) {
		atomic_dec_if_positive(&h->tickets);
		cond_resched();
	}
	return 0;
}

/*
 * Who takes without waiting makes a claimed waiter find nothing and sleep
 * again. However that falls, a waiter can be claimed when there is more.
 */
static void thieves_leave_no_waiter_behind(struct kunit *test)
{
	struct hall *h = open_hall(test, 0);
	struct task_struct *thief[THIEVES];

	for (int i = 0; i < WAKERS; i++)
		h->waiter[i] = kthread_run(wait_often, h, "waiter/%d", i);
	for (int i = 0; i < THIEVES; i++)
		thief[i] = kthread_run(steal, h, "thief/%d", i);
	for (int i = 0; atomic_read(&h->served) < WAKERS * OFTEN; i++) {
		if (!atomic_read(&h->tickets))
			issue(h, 1);
		/* Mostly at once, before who was claimed can have looked. */
		if (i % 8)
			atomic_dec_if_positive(&h->tickets);
		cond_resched();
	}
	for (int i = 0; i < THIEVES; i++)
		kthread_stop(thief[i]);
	close_hall(h);
	KUNIT_EXPECT_EQ(test, atomic_read(&h->served), WAKERS * OFTEN);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(n_tickets_wake_n_waiters),
	KUNIT_CASE(a_claimed_waiter_is_not_claimed_again),
	KUNIT_CASE(an_interrupted_waiter_hands_its_claim_on),
	KUNIT_CASE(a_claim_without_a_ticket_is_not_handed_on),
	KUNIT_CASE(parallel_wakers_wake_different_waiters),
	KUNIT_CASE(thieves_leave_no_waiter_behind),
	{}
};

static struct kunit_suite suite = {
	.name = "reventfd_queue",
	.test_cases = cases,
};

kunit_test_suite(suite);
