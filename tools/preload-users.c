// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own users of eventfd take nothing else. Here is said which
 * descriptor one of them refused for being a reventfd.
 *
 * It is looked at after the refusal, with EINVAL: then the kernel has read the
 * caller's structures, and so may this.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/aio_abi.h>
#include <linux/kvm.h>
#include <linux/vfio.h>
#include <linux/vhost.h>

#include "preload.h"

/* Of <linux/io_uring.h>: io_uring_register's operations that take an eventfd. */
#define REGISTER_EVENTFD 4
#define REGISTER_EVENTFD_ASYNC 7

static bool is_reventfd(int fd)
{
	struct line path = { 0 };
	char target[32];
	ssize_t n;

	line_text(&path, "/proc/self/fd/");
	line_number(&path, fd);
	path.text[path.n] = 0;
	n = readlink(path.text, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = 0;
	return !strcmp(target, "anon_inode:[reventfd]") || !strcmp(target, DEVICE);
}

static void explain(int fd, const char *user)
{
	int error = errno;
	struct line l;

	if (fd >= 0 && is_reventfd(fd)) {
		line_start(&l);
		line_number(&l, getpid());
		line_text(&l, ": ");
		line_text(&l, user);
		line_text(&l, " refused descriptor ");
		line_number(&l, fd);
		line_text(&l, ", a reventfd: it takes eventfds only\n"
			  "  Which eventfd became this descriptor is said above: exclude that one.");
		line_end(&l);
	}
	errno = error;
}

void explain_syscall(long nr, const long a[6])
{
	const void *arg = (const void *)a[2];
	const struct iocb *first;

	if (errno != EINVAL || !arg)
		return;
	if (nr == SYS_io_uring_register && a[3] == 1 &&
	    (a[1] == REGISTER_EVENTFD || a[1] == REGISTER_EVENTFD_ASYNC)) {
		explain(*(const int *)arg, "io_uring_register(2)");
	} else if (nr == SYS_io_submit && a[1] > 0) {
		first = *(struct iocb *const *)arg;
		if (first->aio_flags & IOCB_FLAG_RESFD)
			explain(first->aio_resfd, "io_submit(2)");
	}
}

static void explain_vfio(const struct vfio_irq_set *set)
{
	const int *fds = (const int *)set->data;

	if (!(set->flags & VFIO_IRQ_SET_DATA_EVENTFD))
		return;
	/* A count that does not fit is EINVAL as well, and nobody has read what is there. */
	if (set->argsz < sizeof(*set) || set->count > (set->argsz - sizeof(*set)) / sizeof(*fds))
		return;
	for (unsigned int i = 0; i < set->count; i++)
		explain(fds[i], "VFIO_DEVICE_SET_IRQS");
}

void explain_ioctl(unsigned long request, void *arg)
{
	if (errno != EINVAL || !arg)
		return;
	switch (request) {
	case KVM_IRQFD:
		explain(((struct kvm_irqfd *)arg)->fd, "KVM_IRQFD");
		break;
	case KVM_IOEVENTFD:
		explain(((struct kvm_ioeventfd *)arg)->fd, "KVM_IOEVENTFD");
		break;
	case VHOST_SET_VRING_KICK:
	case VHOST_SET_VRING_CALL:
	case VHOST_SET_VRING_ERR:
		explain(((struct vhost_vring_file *)arg)->fd, "vhost");
		break;
	case VFIO_DEVICE_SET_IRQS:
		explain_vfio(arg);
		break;
	}
}
