// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands: what a caller may ask for, checked and copied. What comes of
 * it is decided in the files below.
 */
#include <linux/anon_inodes.h>
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "reventfd_ctx.h"

#define CREATE_FLAGS	(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK | REVENTFD_SHARDED)

static int ioctl_create(void __user *arg, size_t size)
{
	struct reventfd_create create;
	struct reventfd_ctx *ctx;
	struct file *file;
	int err, fd;

	err = copy_struct_from_user(&create, sizeof(create), arg, size);
	if (err)
		return err;
	if (create.flags & ~CREATE_FLAGS || create.pad || create.count > REVENTFD_COUNT_MAX)
		return -EINVAL;

	fd = get_unused_fd_flags(O_RDWR | (create.flags & EFD_CLOEXEC));
	if (fd < 0)
		return fd;

	ctx = reventfd_ctx_new(create.count, create.flags & EFD_SEMAPHORE,
			       create.flags & REVENTFD_SHARDED);
	if (IS_ERR(ctx)) {
		err = PTR_ERR(ctx);
		goto put_fd;
	}

	file = anon_inode_getfile("[reventfd]", &reventfd_fops, ctx,
				  O_RDWR | (create.flags & EFD_NONBLOCK));
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto put_ctx;
	}

	file->f_mode |= REVENTFD_FMODE;
	fd_install(fd, file);
	return fd;

put_ctx:
	reventfd_ctx_put(ctx);
put_fd:
	put_unused_fd(fd);
	return err;
}

static int set_limit(struct reventfd_ctx *ctx, const struct reventfd_limit *limit)
{
	/* A semaphore's events are handed out singly: none may wait for more. */
	if (ctx->semaphore)
		return -EINVAL;
	if (limit->flags & ~REVENTFD_LIMIT_WAKE_ONLY || limit->pad)
		return -EINVAL;
	if (limit->rate > REVENTFD_RATE_MAX || (limit->rate && !limit->burst))
		return -EINVAL;

	reventfd_limiter_set(ctx, limit);
	return 0;
}

static int ioctl_set_limit(struct reventfd_ctx *ctx, void __user *arg, size_t size)
{
	struct reventfd_limit limit;
	int err;

	err = copy_struct_from_user(&limit, sizeof(limit), arg, size);
	if (err)
		return err;
	return set_limit(ctx, &limit);
}

static int ioctl_set_qos(struct reventfd_ctx *ctx, void __user *arg)
{
	struct eventfd_qos qos;

	if (copy_from_user(&qos, arg, sizeof(qos)))
		return -EFAULT;
	return set_limit(ctx, &(struct reventfd_limit) {
		.rate = qos.token_rate,
		.burst = qos.token_capacity,
	});
}

/* A caller with a newer header reads zero for what is not known here. */
static int copy_out(void __user *arg, size_t size, const void *from, size_t known)
{
	size_t both = min(size, known);

	if (copy_to_user(arg, from, both) || clear_user(arg + both, size - both))
		return -EFAULT;
	return 0;
}

static int ioctl_get_limit(struct reventfd_ctx *ctx, void __user *arg, size_t size)
{
	struct reventfd_limit limit;

	reventfd_limiter_get(ctx, &limit);
	return copy_out(arg, size, &limit, sizeof(limit));
}

static int ioctl_get_qos(struct reventfd_ctx *ctx, void __user *arg)
{
	struct reventfd_limit limit;
	struct eventfd_qos qos;

	reventfd_limiter_get(ctx, &limit);
	qos.token_capacity = limit.burst;
	qos.token_rate = limit.rate;
	return copy_out(arg, sizeof(qos), &qos, sizeof(qos));
}

static int ioctl_get_stats(struct reventfd_ctx *ctx, void __user *arg, size_t size)
{
	struct reventfd_stats stats;

	reventfd_get_stats(ctx, &stats);
	return copy_out(arg, size, &stats, sizeof(stats));
}

/* The sizes that were published first. None of the structures has grown. */
#define CREATE_SIZE_MIN	16
#define LIMIT_SIZE_MIN	16
#define STATS_SIZE_MIN	40
static_assert(sizeof(struct reventfd_create) == CREATE_SIZE_MIN);
static_assert(sizeof(struct reventfd_limit) == LIMIT_SIZE_MIN);
static_assert(sizeof(struct reventfd_stats) == STATS_SIZE_MIN);

/**
 * reventfd_ioctl - the commands of <linux/reventfd.h>
 * @file: any counter
 * @cmd: the command; for those that can grow, with the caller's size in it
 * @arg: the caller's structure
 *
 * %EFD_IOC_SET_QOS, %EFD_IOC_GET_QOS: the limit, in the form once proposed
 * for eventfd.
 * %REVENTFD_IOC_CREATE: makes another counter and returns its descriptor.
 * %REVENTFD_IOC_SET_LIMIT, %REVENTFD_IOC_GET_LIMIT: the limit.
 * %REVENTFD_IOC_GET_STATS: what happened so far.
 *
 * Return: as said, 0, or -ENOTTY for an unknown command, -EFAULT for a bad
 * pointer, -E2BIG for a newer structure that asks for what is not known,
 * -EINVAL for everything else that is wrong with it.
 */
long reventfd_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct reventfd_ctx *ctx = file->private_data;
	void __user *user = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);

	switch (cmd) {
	case EFD_IOC_SET_QOS:
		return ioctl_set_qos(ctx, user);
	case EFD_IOC_GET_QOS:
		return ioctl_get_qos(ctx, user);
	}

	switch (cmd & ~IOCSIZE_MASK) {
	case REVENTFD_IOC_CREATE & ~IOCSIZE_MASK:
		return size < CREATE_SIZE_MIN ? -EINVAL : ioctl_create(user, size);
	case REVENTFD_IOC_SET_LIMIT & ~IOCSIZE_MASK:
		return size < LIMIT_SIZE_MIN ? -EINVAL : ioctl_set_limit(ctx, user, size);
	case REVENTFD_IOC_GET_LIMIT & ~IOCSIZE_MASK:
		return size < LIMIT_SIZE_MIN ? -EINVAL : ioctl_get_limit(ctx, user, size);
	case REVENTFD_IOC_GET_STATS & ~IOCSIZE_MASK:
		return size < STATS_SIZE_MIN ? -EINVAL : ioctl_get_stats(ctx, user, size);
	}
	return -ENOTTY;
}
