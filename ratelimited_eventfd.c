// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/reventfd: an event counter like eventfd(2) that can bound how often
 * its consumer is woken.
 *
 * The device's face: its file operations. What they decide is decided below:
 * when somebody is woken in wakeup_limiter.c, or for room in eventfd_room.c,
 * who in wait_queue.c, how events add up in event_counter.c.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "reventfd_ctx.h"
#include "reventfd_trace.h"

/* Who waits in this call, and what it gets. */
struct blocked {
	struct reventfd_ctx *ctx;
	u64 n;
};

static bool read_ready(void *arg)
{
	struct blocked *b = arg;

	return reventfd_readable(b->ctx, reventfd_counter_poll(&b->ctx->counter));
}

static bool read_attempt(void *arg)
{
	struct blocked *b = arg;

	if (!reventfd_granted(b->ctx))
		return false;
	b->n = reventfd_drain(b->ctx);
	return b->n != 0;
}

static const struct reventfd_wait_ops read_ops = {
	.ready = read_ready,
	.attempt = read_attempt,
};

static ssize_t reventfd_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct reventfd_ctx *ctx = file->private_data;
	struct blocked b = { .ctx = ctx };
	int err;

	if (iov_iter_count(to) < sizeof(b.n))
		return -EINVAL;

	/*
	 * A non-blocking descriptor tells the truth whatever the limit, so
	 * that nobody can leave events behind at exit without knowing.
	 */
	if (file->f_flags & O_NONBLOCK) {
		b.n = reventfd_drain(ctx);
		if (!b.n)
			return -EAGAIN;
	} else if (!read_attempt(&b)) {
		if (iocb->ki_flags & IOCB_NOWAIT)
			return -EAGAIN;
		err = reventfd_queue_wait(&ctx->queue, &ctx->queue.readers, &read_ops, &b);
		if (err)
			return err;
	}
	reventfd_announce_room(ctx, b.n);

	if (copy_to_iter(&b.n, sizeof(b.n), to) != sizeof(b.n))
		return -EFAULT;
	return sizeof(b.n);
}

static inline ssize_t write_one(struct reventfd_ctx *ctx, u64 n, bool nowait)
{
	int err;

	if (n == ULLONG_MAX)
		return -EINVAL;

	if (!reventfd_counter_add(&ctx->counter, n)) {
		err = reventfd_add_when_room(ctx, n, nowait);
		if (err)
			return err;
	}
	reventfd_trace_write(ctx, n);
	reventfd_announce(ctx, n);
	return sizeof(n);
}

static ssize_t reventfd_write(struct file *file, const char __user *buf, size_t size,
			      loff_t *ppos)
{
	u64 n;

	if (!reventfd_write_size_ok(size))
		return -EINVAL;
	if (reventfd_get_u64(&n, buf))
		return -EFAULT;
	return write_one(file->private_data, n, file->f_flags & O_NONBLOCK);
}

/*
 * eventfd has no write_iter: the VFS gives it a vector's segments one by one,
 * each a write of its own, and stops after the first that is not taken whole.
 */
static ssize_t reventfd_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	bool nowait = (file->f_flags & O_NONBLOCK) || (iocb->ki_flags & IOCB_NOWAIT);
	ssize_t done = 0, ret = 0;
	size_t segment;
	u64 n;

	while (iov_iter_count(from)) {
		/* A registered buffer is one segment, however many pages it spans. */
		segment = iov_iter_is_bvec(from) ? iov_iter_count(from) :
						   iov_iter_single_seg_count(from);
		if (!reventfd_write_size_ok(segment))
			ret = -EINVAL;
		else if (!copy_from_iter_full(&n, sizeof(n), from))
			ret = -EFAULT;
		else
			ret = write_one(file->private_data, n, nowait);
		if (ret < 0)
			break;
		done += ret;
		if (ret != segment)
			break;
		/* Over empty segments, except a leading one, the VFS steps, too. */
		iov_iter_advance(from, 0);
	}
	return done ? done : ret;
}

static __poll_t reventfd_poll(struct file *file, poll_table *wait)
{
	struct reventfd_ctx *ctx = file->private_data;
	__poll_t events = 0;
	u64 count;

	reventfd_queue_poll(&ctx->queue, file, wait);

	count = reventfd_counter_poll(&ctx->counter);
	if (reventfd_readable(ctx, count))
		events |= EPOLLIN;
	if (count == ULLONG_MAX)
		events |= EPOLLERR;
	if (reventfd_count_fits(count, 1))
		events |= EPOLLOUT;
	return events;
}

static int reventfd_release(struct inode *inode, struct file *file)
{
	struct reventfd_ctx *ctx = file->private_data;

	reventfd_limiter_stop(ctx);
	/* Only other modules can still listen: poll held the file, and epoll has let go of it. */
	reventfd_queue_wake_pollers(&ctx->queue, EPOLLHUP);
	reventfd_ctx_put(ctx);
	return 0;
}

static int reventfd_open(struct inode *inode, struct file *file)
{
	struct reventfd_ctx *ctx;

	ctx = reventfd_ctx_new(0, false, false);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);

	file->private_data = ctx;
	/* As an eventfd: no position to read or write at, but lseek() says 0. */
	file->f_mode &= ~(FMODE_PREAD | FMODE_PWRITE);
	file->f_mode |= REVENTFD_FMODE;
	/*
	 * An eventfd has no path. One who watches this one with inotify would
	 * see everybody's reads and writes, and slow them down.
	 */
	reventfd_hide_from_fsnotify(file);
	return 0;
}

const struct file_operations reventfd_fops = {
	.owner		= THIS_MODULE,
	.open		= reventfd_open,
	.release	= reventfd_release,
	.read_iter	= reventfd_read_iter,
	.write		= reventfd_write,
	.write_iter	= reventfd_write_iter,
	.poll		= reventfd_poll,
	.unlocked_ioctl	= reventfd_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
#ifdef CONFIG_PROC_FS
	.show_fdinfo	= reventfd_show_fdinfo,
#endif
};

static struct miscdevice reventfd_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "reventfd",
	.fops	= &reventfd_fops,
	/* eventfd(2) asks for no privilege either. */
	.mode	= 0666,
};

static int __init reventfd_init(void)
{
	int err;

	err = reventfd_ctx_init();
	if (err)
		return err;

	err = misc_register(&reventfd_device);
	if (err)
		reventfd_ctx_exit();
	return err;
}

static void __exit reventfd_exit(void)
{
	misc_deregister(&reventfd_device);
	reventfd_ctx_exit();
}

module_init(reventfd_init);
module_exit(reventfd_exit);

MODULE_AUTHOR("The reventfd authors");
MODULE_DESCRIPTION("An event counter like eventfd that bounds its consumer's wakeups");
MODULE_LICENSE("GPL");
MODULE_VERSION(REVENTFD_VERSION);
