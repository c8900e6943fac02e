// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is woken: the queue of blocked readers and writers, and the pollers.
 *
 * Locking
 * =======
 *
 * One lock per counter, reventfd_queue.lock, held in two ways.
 *
 * Shared, by wakers: producers, other modules' signals, consumers that made
 * room, the limit's timer. Any number of them walk a list at the same time,
 * from any context. A waker claims a waiter by exchanging waiter->task for
 * NULL, so that of all wakers that pass a waiter one has it, and wakes it while
 * it still holds the lock.
 *
 * Exclusive, by those who change what wakers go by: a waiter linking or
 * unlinking itself, and whoever changes the limit, and wakes by the new one
 * before it lets go (wakeup_limiter.c). A waiter lives on its task's stack. It
 * unlinks under the exclusive lock before it returns, so no waker that may
 * still touch it is left: neither the waiter nor its task needs a reference.
 *
 * Except on PREEMPT_RT, the lock is taken with interrupts off in both ways:
 * the limit's timer takes it shared in hard interrupt context, and
 * current->in_eventfd, which is set while pollers are woken, must not be seen
 * by an interrupt that signals something of its own.
 *
 * A waiter that wants it exclusive must get it, however many wakers come. The
 * kernel's queued rwlock lets it in before tasks that come later; only wakers
 * in interrupts go first. Where a kernel has none, the lock is a spinlock, and
 * wakers walk one after the other. So it is on PREEMPT_RT, where a waiting
 * writer of an rwlock lends its priority to none of the readers it waits for,
 * and a spinlock inherits priority. Nothing of ours runs in hard interrupt
 * context there: the timer expires in softirq, and the lock sleeps.
 *
 * Inside the lock nest the lock of the pollers' wait queue with what their wake
 * functions take, and what the kernel takes to wake a task and to start or stop
 * a timer. A waker that finds nobody blocked, only pollers, takes the pollers'
 * lock alone: a waiter that it did not see links itself later and looks at the
 * count after that, see below. Wake functions run with current->in_eventfd set
 * and, except on PREEMPT_RT, with interrupts off, as in eventfd, so that one
 * that would signal an eventfd or a reventfd in turn knows to put it off:
 * eventfd_signal() and reventfd_signal() refuse. So none of them comes back in
 * here. Nothing is allocated, printed or copied to or from user space under the
 * lock.
 *
 * No lost wakeup
 * ==============
 *
 *	waiter				waker
 *	------				-----
 *	link, set state, publish task	change the count (or the grant)
 *	full barrier			full barrier
 *	look at the count		look for waiters
 *
 * At least one sees what the other did: either the waiter finds the count it
 * waits for and does not sleep, or the waker finds the waiter, claims it, and
 * ends the sleeping state that was set before.
 *
 * Claims are counted against events: at any time, if a waiter sleeps
 * unclaimed, then each event that is there to be had is covered by a claim
 * that is not yet answered, or by a waker that is yet to walk. A write of n
 * makes n claims, or as many as there are waiters to be claimed. A claimed
 * waiter answers by an attempt: either it takes an event, or there is none.
 * If it leaves without an attempt, interrupted, it hands the claim on.
 *
 * Hence a waiter is withdrawn from when it is claimed until it has made its
 * attempt. Were it published earlier, a second waker could claim it before it
 * has answered the first, and of two events it would take but one, while
 * another waiter, which the second claim should have gone to, sleeps on. A
 * waiter that wakes unclaimed withdraws as well before its attempt, so that
 * no claim meant for the next event is spent on one who is leaving. What it
 * misses while it is withdrawn it sees when it has published and looks.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "reventfd_queue.h"

/**
 * reventfd_queue_init - start an empty queue
 * @q: the queue
 */
void reventfd_queue_init(struct reventfd_queue *q)
{
	reventfd_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->readers);
	INIT_LIST_HEAD(&q->writers);
	init_waitqueue_head(&q->pollers);
}

/**
 * reventfd_queue_claim - wake waiters of one kind
 * @q: the queue, its lock held, shared or exclusive
 * @list: its readers or its writers
 * @most: how many of them to claim at most
 *
 * Return: how many waiters were claimed.
 */
unsigned int reventfd_queue_claim(struct reventfd_queue *q, struct list_head *list, u64 most)
{
	struct reventfd_waiter *w;
	struct task_struct *task;
	unsigned int claimed = 0;

	lockdep_assert_held(&q->lock);

	list_for_each_entry(w, list, link) {
		if (claimed == most)
			break;
		/* Spares the exchange where it could not win. */
		if (!READ_ONCE(w->task))
			continue;
		task = xchg(&w->task, NULL);
		if (!task)
			continue;
		wake_up_process(task);
		claimed++;
	}
	return claimed;
}

/**
 * reventfd_queue_wake_pollers_locked - wake pollers; of those that are exclusive, one
 * @q: the queue, its pollers' lock held as spin_lock_irqsave() takes it
 * @mask: what to tell them
 */
void reventfd_queue_wake_pollers_locked(struct reventfd_queue *q, __poll_t mask)
{
	unsigned int nested = current->in_eventfd;

	lockdep_assert_held(&q->pollers.lock);

	current->in_eventfd = 1;
	wake_up_locked_poll(&q->pollers, mask);
	current->in_eventfd = nested;
}

/**
 * reventfd_queue_wake_pollers - the same, for who does not hold their lock
 * @q: the queue
 * @mask: what to tell them
 */
void reventfd_queue_wake_pollers(struct reventfd_queue *q, __poll_t mask)
{
	unsigned long flags;

	spin_lock_irqsave(&q->pollers.lock, flags);
	reventfd_queue_wake_pollers_locked(q, mask);
	spin_unlock_irqrestore(&q->pollers.lock, flags);
}

/**
 * reventfd_queue_wake - wake waiters of one kind, and pollers
 * @q: the queue, its lock held, shared or exclusive
 * @list: its readers or its writers
 * @most: how many of them to claim at most
 * @mask: what to tell the pollers
 *
 * Return: how many waiters were claimed.
 */
unsigned int reventfd_queue_wake(struct reventfd_queue *q, struct list_head *list,
				 u64 most, __poll_t mask)
{
	unsigned int claimed;

	lockdep_assert_held(&q->lock);

	claimed = reventfd_queue_claim(q, list, most);
	/* After the barrier that let the caller see a waiter in the first place. */
	if (waitqueue_active(&q->pollers)) {
		spin_lock(&q->pollers.lock);
		reventfd_queue_wake_pollers_locked(q, mask);
		spin_unlock(&q->pollers.lock);
	}

	return claimed;
}

/**
 * reventfd_queue_wake_all_pollers - wake pollers, exclusive ones, too
 * @q: the queue, its lock held, shared or exclusive
 * @mask: what to tell them
 */
void reventfd_queue_wake_all_pollers(struct reventfd_queue *q, __poll_t mask)
{
	unsigned int nested = current->in_eventfd;

	lockdep_assert_held(&q->lock);

	current->in_eventfd = 1;
	__wake_up(&q->pollers, TASK_NORMAL, 0, poll_to_key(mask));
	current->in_eventfd = nested;
}

static void waiter_link(struct reventfd_queue *q, struct list_head *list,
			struct reventfd_waiter *w)
{
	w->task = NULL;
	reventfd_exclusive_lock(&q->lock);
	list_add_tail(&w->link, list);
	reventfd_exclusive_unlock(&q->lock);
}

static void waiter_unlink(struct reventfd_queue *q, struct reventfd_waiter *w)
{
	reventfd_exclusive_lock(&q->lock);
	list_del(&w->link);
	reventfd_exclusive_unlock(&q->lock);
}

/* Offers the waiter to be claimed, before it looks whether it must sleep. */
static void waiter_publish(struct reventfd_waiter *w)
{
	/*
	 * Before it can be claimed: a claim's wakeup must find this state. One
	 * that found the task running would do nothing, and the waiter would
	 * go to sleep claimed, where no later waker looks at it:
	 * model/litmus/state.
	 */
	set_current_state(TASK_INTERRUPTIBLE);
	/*
	 * Publishing, then looking: a full barrier, which pairs with the
	 * waker's between its change and its look for waiters:
	 * model/litmus/publish, busy.
	 */
	smp_store_mb(w->task, current);
}

/* Takes the offer back. Returns whether the waiter had been claimed. */
static bool waiter_withdraw(struct reventfd_waiter *w)
{
	return !xchg(&w->task, NULL);
}

/* The claim of a waiter that leaves empty-handed goes to another. */
static void hand_on(struct reventfd_queue *q, struct list_head *list)
{
	unsigned long flags;

	reventfd_shared_lock(&q->lock, flags);
	reventfd_queue_claim(q, list, 1);
	reventfd_shared_unlock(&q->lock, flags);
}

/**
 * reventfd_queue_wait - sleep until an attempt succeeds
 * @q: the queue
 * @list: its readers or its writers: where to wait
 * @ops: what is waited for
 * @arg: passed to @ops
 *
 * Return: 0 when the attempt succeeded, -ERESTARTSYS if a signal came first;
 * then nothing was taken, and a claim already made on this waiter has been
 * handed on.
 */
int reventfd_queue_wait(struct reventfd_queue *q, struct list_head *list,
			const struct reventfd_wait_ops *ops, void *arg)
{
	struct reventfd_waiter w;
	bool claimed = false;
	int ret = 0;

	waiter_link(q, list, &w);
	while (!ops->attempt(arg)) {
		waiter_publish(&w);
		if (!ops->ready(arg)) {
			/* Only now: who need not sleep is not interrupted either. */
			if (signal_pending(current)) {
				claimed = waiter_withdraw(&w);
				ret = -ERESTARTSYS;
				break;
			}
			schedule();
		}
		/* Claimed or not: the attempt that follows is the answer: model/litmus/answer. */
		waiter_withdraw(&w);
	}
	__set_current_state(TASK_RUNNING);
	waiter_unlink(q, &w);

	if (claimed && ops->ready(arg))
		hand_on(q, list);
	return ret;
}
