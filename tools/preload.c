// SPDX-License-Identifier: GPL-2.0
/*
 * libreventfd-preload.so: makes reventfd descriptors of a program's eventfd(2)
 * calls. For LD_PRELOAD, under programs that cannot be changed.
 *
 * It replaces the C library's eventfd(), and eventfd and eventfd2 by way of
 * its syscall(). A program that makes the system call with its own assembly
 * instructions, or that is linked statically, is not reached.
 *
 * If the device cannot be opened the program gets the eventfd it asked for,
 * and a line on stderr says so once.
 *
 * No memory is allocated and no lock is taken: it may be called from a signal
 * handler, as eventfd(2) may. errno is left as eventfd(2) would leave it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/reventfd.h>

#ifndef __x86_64__
#error "raw_syscall() is written for x86-64 only"
#endif

#define DEVICE "/dev/reventfd"

/* The kernel's answer to a system call, without errno: negative on failure. */
static long raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static void warn_once(void)
{
	static const char text[] =
		"reventfd: cannot open " DEVICE ", using eventfd(2) instead\n"
		"  Is the module loaded? Try 'modprobe reventfd'.\n";
	static atomic_flag warned = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&warned))
		raw_syscall(SYS_write, STDERR_FILENO, (long)text, sizeof(text) - 1, 0, 0, 0);
}

/* A descriptor, or what the kernel says instead, negative. */
static long make_counter(unsigned int count, int flags)
{
	struct reventfd_create create = { .count = count, .flags = flags };
	long device, fd;

	device = raw_syscall(SYS_openat, AT_FDCWD, (long)DEVICE, O_RDWR | O_CLOEXEC, 0, 0, 0);
	if (device == -EMFILE || device == -ENFILE || device == -ENOMEM)
		return device;
	if (device < 0) {
		warn_once();
		return raw_syscall(SYS_eventfd2, count, flags, 0, 0, 0, 0);
	}
	fd = raw_syscall(SYS_ioctl, device, REVENTFD_IOC_CREATE, (long)&create, 0, 0, 0);
	if (fd < 0) {
		raw_syscall(SYS_close, device, 0, 0, 0, 0, 0);
		return fd;
	}
	/*
	 * eventfd(2) returns the lowest number that is free, which is the
	 * device's: the counter moves there, and the device is gone with it.
	 */
	if (fd > device) {
		long moved = raw_syscall(SYS_dup3, fd, device, flags & EFD_CLOEXEC, 0, 0, 0);

		raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
		return moved;
	}
	raw_syscall(SYS_close, device, 0, 0, 0, 0, 0);
	return fd;
}

static long as_libc(long ret)
{
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = -ret;
	return -1;
}

int eventfd(unsigned int count, int flags)
{
	return as_libc(make_counter(count, flags));
}

long syscall(long nr, ...)
{
	long a[6];
	va_list ap;

	/* Those that the call does not have are read as they happen to be. */
	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);

	if (nr == SYS_eventfd2)
		return as_libc(make_counter(a[0], a[1]));
	if (nr == SYS_eventfd)
		return as_libc(make_counter(a[0], 0));
	return as_libc(raw_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
}
