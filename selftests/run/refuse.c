// SPDX-License-Identifier: GPL-2.0
/*
 * librefuse.so, for LD_PRELOAD: answers as KVM, VFIO and vhost do to what is
 * no eventfd. The virtual machine has none of them. Also a library that
 * somebody else preloads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>

int ioctl(int fd, unsigned long request, ...)
{
	errno = EINVAL;
	return -1;
}

__attribute__((constructor)) static void start_up(void)
{
	fprintf(stderr, "librefuse is here\n");
}
