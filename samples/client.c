// SPDX-License-Identifier: GPL-2.0-only
/*
 * How another module signals a reventfd: a sample, which the tests use, too.
 *
 * A program hands a module a descriptor, and the module tells the program
 * through it that something has happened. The whole of the interface is
 *
 *	reventfd_ctx_fdget()	at the start, in a system call of the program
 *	reventfd_signal()	whenever something has happened, in any context
 *				that eventfd_signal() may be called from
 *	reventfd_ctx_put()	at the end, in any context
 *
 * The reference is to the counter and not to the file: the program closes its
 * descriptor when it likes, after which a signal reaches nobody, and the
 * counter goes with the last reference. What the consumer has set for itself,
 * a limit above all, is none of the module's business.
 *
 * On PREEMPT_RT a signal and a put take locks that sleep, as an eventfd's do:
 * they may come from a task or from softirq, not from hard interrupt context or
 * with preemption or interrupts disabled.
 *
 * One thing needs care. A wait queue's wake function may run in the middle of
 * somebody's signal, with that counter's locks held. A module that signals
 * from a wake function asks reventfd_signal_allowed() first, and where the
 * answer is no, has a work item do it: see relay_wake(). A source that is an
 * epoll which watches the target would deadlock all the same: a module that
 * cannot rule it out always puts off, as this one does not. And a few files' wait
 * queues, signalfd's for one, go before the file does: see relay_orphaned().
 *
 * Here each open of /dev/reventfd-client is one such module in little: it
 * takes a counter with REVENTFD_CLIENT_ATTACH and signals it on request, from
 * the context asked for, or relays what happens on another descriptor.
 * client.h has the commands.
 */
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/reventfd.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "client.h"
#include "../include/reventfd_compat.h"

/**
 * struct target - the counter that is signalled
 * @reventfd: a reference to it, or NULL
 * @eventfd: to compare with: the same on the kernel's own counter
 */
struct target {
	struct reventfd_ctx *reventfd;
	struct eventfd_ctx *eventfd;
};

/**
 * struct relay - signals the target whenever a file becomes readable
 * @source: the file, held as long as its wait queue is listened to, or NULL
 * @head: its wait queue; NULL before there is one, and when it goes
 * @wait: the relay's place in it
 * @table: by which poll tells the wait queue
 * @work: sends the signals that were put off
 * @waiting: how many those are; an atomic
 * @direct: see struct reventfd_client_relayed; an atomic, as is the next
 * @put_off: see struct reventfd_client_relayed
 */
struct relay {
	struct file *source;
	wait_queue_head_t *head;
	wait_queue_entry_t wait;
	poll_table table;
	struct work_struct work;
	atomic64_t waiting;
	atomic64_t direct;
	atomic64_t put_off;
};

/**
 * struct client - one open of the device
 * @lock: a command is carried out under it, one at a time; the relay's wake
 *	function and its work item are not
 * @target: changed under @lock while there is no relay
 * @relay: changed under @lock
 * @timer: takes a signal to softirq or hard interrupt context
 * @n: what @timer is to signal; stable while it runs, as are the next two
 * @added: what came of it
 * @done: completed by @timer
 */
struct client {
	struct mutex lock; /* see above */
	struct target target;
	struct relay relay;
	struct hrtimer timer;
	u64 n;
	u64 added;
	struct completion done;
};

static bool target_held(const struct target *t)
{
	return t->reventfd || t->eventfd;
}

static int target_get(struct target *t, const struct reventfd_client_attach *attach)
{
	struct reventfd_ctx *reventfd;
	struct eventfd_ctx *eventfd;

	if (target_held(t))
		return -EBUSY;

	switch (attach->kind) {
	case REVENTFD_CLIENT_REVENTFD:
		reventfd = reventfd_ctx_fdget(attach->fd);
		if (IS_ERR(reventfd))
			return PTR_ERR(reventfd);
		t->reventfd = reventfd;
		return 0;
	case REVENTFD_CLIENT_EVENTFD:
		eventfd = eventfd_ctx_fdget(attach->fd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd);
		t->eventfd = eventfd;
		return 0;
	}
	return -EINVAL;
}

static void target_put(struct target *t)
{
	if (t->reventfd)
		reventfd_ctx_put(t->reventfd);
	if (t->eventfd)
		eventfd_ctx_put(t->eventfd);
	*t = (struct target) { };
}

static u64 target_signal(const struct target *t, u64 n)
{
	if (t->reventfd)
		return reventfd_signal(t->reventfd, n);
	return reventfd_compat_eventfd_signal(t->eventfd, n);
}

static enum hrtimer_restart signal_from_timer(struct hrtimer *timer)
{
	struct client *c = container_of(timer, struct client, timer);

	c->added = target_signal(&c->target, c->n);
	complete(&c->done);
	return HRTIMER_NORESTART;
}

static u64 signal_by_timer(struct client *c, u64 n, enum hrtimer_mode mode)
{
	c->n = n;
	reinit_completion(&c->done);
	hrtimer_setup(&c->timer, signal_from_timer, CLOCK_MONOTONIC, mode);
	hrtimer_start(&c->timer, 0, mode);
	wait_for_completion(&c->done);
	/* Its function may not have returned yet. */
	hrtimer_cancel(&c->timer);
	return c->added;
}

static int signal_from(struct client *c, struct reventfd_client_signal *signal)
{
	unsigned long flags;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) && signal->context != REVENTFD_CLIENT_TASK &&
	    signal->context != REVENTFD_CLIENT_SOFTIRQ)
		return -EOPNOTSUPP;

	switch (signal->context) {
	case REVENTFD_CLIENT_TASK:
		signal->added = target_signal(&c->target, signal->n);
		return 0;
	case REVENTFD_CLIENT_SOFTIRQ:
		signal->added = signal_by_timer(c, signal->n, HRTIMER_MODE_REL_SOFT);
		return 0;
	case REVENTFD_CLIENT_HARDIRQ:
		/*
		 * Not HRTIMER_MODE_REL_HARD, which would be that on PREEMPT_RT,
		 * too; lockdep complains of a signal from there on any kernel.
		 */
		signal->added = signal_by_timer(c, signal->n, HRTIMER_MODE_REL);
		return 0;
	case REVENTFD_CLIENT_PREEMPT_OFF:
		preempt_disable();
		signal->added = target_signal(&c->target, signal->n);
		preempt_enable();
		return 0;
	case REVENTFD_CLIENT_IRQS_OFF:
		local_irq_save(flags);
		signal->added = target_signal(&c->target, signal->n);
		local_irq_restore(flags);
		return 0;
	}
	return -EINVAL;
}

static void relay_work(struct work_struct *work)
{
	struct client *c = container_of(work, struct client, relay.work);
	u64 n = atomic64_xchg(&c->relay.waiting, 0);

	if (n)
		target_signal(&c->target, n);
}

/* The source's wait queue goes, with its lock held for the last time. */
static void relay_orphaned(struct relay *r)
{
	list_del_init(&r->wait.entry);
	/* The last look at it here; pairs with the acquire in relay_unlink(). */
	smp_store_release(&r->head, NULL);
}

/* Called under the lock of the source's wait queue, in whatever context it is woken. */
static int relay_wake(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct client *c = container_of(wait, struct client, relay.wait);

	if (key_to_poll(key) & POLLFREE) {
		relay_orphaned(&c->relay);
		return 0;
	}
	if (key && !(key_to_poll(key) & EPOLLIN))
		return 0;

	if (reventfd_signal_allowed()) {
		atomic64_inc(&c->relay.direct);
		target_signal(&c->target, 1);
	} else {
		/* The source is a counter, too, and this is its signal's wakeup. */
		atomic64_inc(&c->relay.put_off);
		atomic64_inc(&c->relay.waiting);
		schedule_work(&c->relay.work);
	}
	return 0;
}

static void relay_link(struct file *file, wait_queue_head_t *head, poll_table *table)
{
	struct relay *r = container_of(table, struct relay, table);

	/* A file with a second queue, for something else, is not listened to there. */
	if (r->head)
		return;
	r->head = head;
	add_wait_queue(head, &r->wait);
}

static void relay_unlink(struct relay *r)
{
	wait_queue_head_t *head;

	/* A queue that goes is freed when all have left such a section. */
	rcu_read_lock();
	/* NULL only when relay_orphaned() has taken the entry off: pairs with its release. */
	head = smp_load_acquire(&r->head);
	if (head)
		remove_wait_queue(head, &r->wait);
	rcu_read_unlock();
	r->head = NULL;
}

static void relay_stop(struct relay *r)
{
	relay_unlink(r);
	/* Nobody can schedule it any more. It sends what was put off. */
	flush_work(&r->work);
	if (r->source)
		fput(r->source);
	r->source = NULL;
}

static int relay_start(struct relay *r, int fd)
{
	if (r->source)
		return -EBUSY;
	r->source = fget(fd);
	if (!r->source)
		return -EBADF;

	init_waitqueue_func_entry(&r->wait, relay_wake);
	init_poll_funcptr(&r->table, relay_link);
	vfs_poll(r->source, &r->table);
	if (!READ_ONCE(r->head)) {
		/* It is always ready and nobody is ever woken, or its queue has gone already. */
		relay_stop(r);
		return -EINVAL;
	}
	return 0;
}

static int ioctl_signal(struct client *c, void __user *arg)
{
	struct reventfd_client_signal signal;
	int err;

	if (copy_from_user(&signal, arg, sizeof(signal)))
		return -EFAULT;
	if (signal.pad)
		return -EINVAL;
	err = signal_from(c, &signal);
	if (err)
		return err;
	return copy_to_user(arg, &signal, sizeof(signal)) ? -EFAULT : 0;
}

static int ioctl_relayed(struct client *c, void __user *arg)
{
	struct reventfd_client_relayed relayed = {
		.direct = atomic64_read(&c->relay.direct),
		.put_off = atomic64_read(&c->relay.put_off),
	};

	return copy_to_user(arg, &relayed, sizeof(relayed)) ? -EFAULT : 0;
}

static int command(struct client *c, unsigned int cmd, void __user *arg)
{
	struct reventfd_client_attach attach;
	s32 fd;

	lockdep_assert_held(&c->lock);

	if (cmd == REVENTFD_CLIENT_ATTACH) {
		if (copy_from_user(&attach, arg, sizeof(attach)))
			return -EFAULT;
		return target_get(&c->target, &attach);
	}
	if (!target_held(&c->target))
		return -ENXIO;

	switch (cmd) {
	case REVENTFD_CLIENT_DETACH:
		relay_stop(&c->relay);
		target_put(&c->target);
		return 0;
	case REVENTFD_CLIENT_SIGNAL:
		return ioctl_signal(c, arg);
	case REVENTFD_CLIENT_RELAY:
		if (get_user(fd, (s32 __user *)arg))
			return -EFAULT;
		return relay_start(&c->relay, fd);
	case REVENTFD_CLIENT_RELAYED:
		return ioctl_relayed(c, arg);
	}
	return -ENOTTY;
}

static long client_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct client *c = file->private_data;
	int ret;

	mutex_lock(&c->lock);
	ret = command(c, cmd, (void __user *)arg);
	mutex_unlock(&c->lock);
	return ret;
}

static int client_open(struct inode *inode, struct file *file)
{
	struct client *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	mutex_init(&c->lock);
	init_completion(&c->done);
	INIT_WORK(&c->relay.work, relay_work);
	file->private_data = c;
	return 0;
}

static int client_release(struct inode *inode, struct file *file)
{
	struct client *c = file->private_data;

	relay_stop(&c->relay);
	target_put(&c->target);
	mutex_destroy(&c->lock);
	kfree(c);
	return 0;
}

static const struct file_operations client_fops = {
	.owner		= THIS_MODULE,
	.open		= client_open,
	.release	= client_release,
	.unlocked_ioctl	= client_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
};

static struct miscdevice client_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "reventfd-client",
	.fops	= &client_fops,
	/* Whoever opens it chooses what runs in hard interrupt context. */
	.mode	= 0600,
};
module_misc_device(client_device);

MODULE_AUTHOR("The reventfd authors");
MODULE_DESCRIPTION("Signals reventfds on request: how another module uses them");
MODULE_LICENSE("GPL");
