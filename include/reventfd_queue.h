/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REVENTFD_QUEUE_H
#define _REVENTFD_QUEUE_H

#include <linux/list.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "reventfd_compat.h"

/**
 * struct reventfd_queue - who waits on a counter
 * @lock: the queue's lock; wait_queue.c's head says who holds it how
 * @readers: blocked readers, oldest first; protected by @lock
 * @writers: blocked writers, oldest first; protected by @lock
 * @pollers: poll, select, epoll and io_uring, which link themselves here;
 *	protected by its own lock, which nests inside @lock
 */
struct reventfd_queue {
	reventfd_lock_t lock;
	struct list_head readers;
	struct list_head writers;
	wait_queue_head_t pollers;
};

/**
 * struct reventfd_waiter - one blocked reader or writer, on its own stack
 * @link: its place in the queue; protected by the queue's lock
 * @task: whom to wake; NULL while claimed or withdrawn. Not protected by the
 *	lock: wakers that hold it shared claim by atomic exchange.
 */
struct reventfd_waiter {
	struct list_head link;
	struct task_struct *task;
};

/**
 * struct reventfd_wait_ops - what a waiter waits for
 * @ready: whether an attempt is worth while; changes nothing
 * @attempt: tries to have it, and says whether it has
 *
 * Both are called without the queue's lock and must not sleep.
 */
struct reventfd_wait_ops {
	bool (*ready)(void *arg);
	bool (*attempt)(void *arg);
};

void reventfd_queue_init(struct reventfd_queue *q);
int reventfd_queue_wait(struct reventfd_queue *q, struct list_head *list,
			const struct reventfd_wait_ops *ops, void *arg);
unsigned int reventfd_queue_claim(struct reventfd_queue *q, struct list_head *list, u64 most);
void reventfd_queue_wake_pollers_locked(struct reventfd_queue *q, __poll_t mask);
void reventfd_queue_wake_pollers(struct reventfd_queue *q, __poll_t mask);
unsigned int reventfd_queue_wake(struct reventfd_queue *q, struct list_head *list,
				 u64 most, __poll_t mask);
void reventfd_queue_wake_all_pollers(struct reventfd_queue *q, __poll_t mask);

/*
 * Whether anybody is there for a waker to take the lock for. The caller has
 * passed a full barrier since it changed what they wait for; it pairs with
 * the barrier of waiter_publish() and with that of
 * reventfd_queue_poll().
 */
static inline bool reventfd_queue_busy(struct reventfd_queue *q, struct list_head *list)
{
	/* The barrier that waitqueue_active() wants is the caller's, see above. */
	return !list_empty(list) || waitqueue_active(&q->pollers);
}

/**
 * reventfd_queue_poll - link a poller
 * @q: the queue
 * @file: the file that is polled
 * @wait: poll's table
 *
 * What the caller looks at afterwards is at least as new as what a waker that
 * did not see this poller left behind.
 */
static inline void reventfd_queue_poll(struct reventfd_queue *q, struct file *file,
				       poll_table *wait)
{
	poll_wait(file, &q->pollers, wait);
	/*
	 * Linking, then looking: pairs with the waker's full barrier between
	 * its change and reventfd_queue_busy(): model/litmus/poll.
	 */
	smp_mb();
}

#endif /* _REVENTFD_QUEUE_H */
