// SPDX-License-Identifier: GPL-2.0
/* The command of calls that gives its descriptor to the kernel's own users of eventfd. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/kvm.h>
#include <linux/vfio.h>
#include <linux/vhost.h>

#include "calls.h"

static bool refused;

static void report(const char *what, long ret)
{
	refused |= ret < 0;
	printf("%s: %s\n", what, ret < 0 ? strerrorname_np(errno) : "taken");
}

static void give_to_uring(int fd)
{
	struct io_uring_params params = { 0 };
	int ring = syscall(SYS_io_uring_setup, 4, &params);

	if (ring < 0)
		return;
	report("io_uring", syscall(SYS_io_uring_register, ring, IORING_REGISTER_EVENTFD, &fd, 1));
	close(ring);
}

static void give_to_aio(int fd)
{
	static char buffer[8];
	struct iocb request = {
		.aio_fildes = fileno(tmpfile()),
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_buf = (unsigned long)buffer,
		.aio_nbytes = sizeof(buffer),
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = fd,
	}, *list = &request;
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 4, &context))
		return;
	report("aio", syscall(SYS_io_submit, context, 1, &list));
	syscall(SYS_io_destroy, context);
}

static void give_to_vfio(int fd)
{
	struct vfio_irq_set *set = calloc(1, sizeof(*set) + sizeof(fd));

	set->argsz = sizeof(*set) + sizeof(fd);
	set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	set->count = 1;
	memcpy(set->data, &fd, sizeof(fd));
	report("vfio", ioctl(0, VFIO_DEVICE_SET_IRQS, set));
	/* More than there are: whoever looks at them all ends there. */
	set->count = UINT_MAX;
	report("vfio, too many", ioctl(0, VFIO_DEVICE_SET_IRQS, set));
	free(set);
}

/* users uring|aio|ioctl: fails if one was refused */
int command_users(char **arg)
{
	int fd = eventfd(0, 0);

	if (!strcmp(arg[0], "uring")) {
		give_to_uring(fd);
	} else if (!strcmp(arg[0], "aio")) {
		give_to_aio(fd);
	} else {
		struct kvm_irqfd irqfd = { .fd = fd };
		struct kvm_ioeventfd ioeventfd = { .fd = fd };
		struct vhost_vring_file kick = { .fd = fd };

		report("kvm irqfd", ioctl(0, KVM_IRQFD, &irqfd));
		report("kvm ioeventfd", ioctl(0, KVM_IOEVENTFD, &ioeventfd));
		report("vhost", ioctl(0, VHOST_SET_VRING_KICK, &kick));
		give_to_vfio(fd);
	}
	return refused;
}
