// SPDX-License-Identifier: GPL-2.0
/* Makes a reventfd the way eventfd(2) makes an eventfd. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/reventfd.h>

#include "preload.h"

static void close_quietly(long fd)
{
	int error = errno;

	real_syscall()(SYS_close, fd);
	errno = error;
}

static long create_on(long device, unsigned int count, int flags, const struct options *o)
{
	struct reventfd_create create = { .count = count, .flags = flags };
	struct reventfd_limit limit = { .rate = o->rate, .burst = o->burst };
	long fd;

	fd = real_syscall()(SYS_ioctl, device, (long)REVENTFD_IOC_CREATE, &create);
	if (fd < 0 || !o->rate || flags & EFD_SEMAPHORE)
		return fd;
	if (!real_syscall()(SYS_ioctl, fd, (long)REVENTFD_IOC_SET_LIMIT, &limit))
		return fd;
	close_quietly(fd);
	return -1;
}

int make_reventfd(unsigned int count, int flags, const struct options *o)
{
	syscall_fn call = real_syscall();
	long device, fd, lower;

	device = call(SYS_openat, (long)AT_FDCWD, DEVICE, (long)(O_RDWR | O_CLOEXEC));
	if (device < 0)
		return -1;
	fd = create_on(device, count, flags, o);
	/*
	 * eventfd(2) returns the lowest number that is free, which is the
	 * device's: the counter moves there, and the device is gone with it.
	 */
	if (fd > device) {
		lower = call(SYS_dup3, fd, device, (long)(flags & EFD_CLOEXEC));
		close_quietly(fd);
		if (lower >= 0)
			return lower;
		fd = -1;
	}
	close_quietly(device);
	return fd;
}
