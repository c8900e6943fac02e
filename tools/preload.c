// SPDX-License-Identifier: GPL-2.0
/*
 * libreventfd-preload.so: makes reventfd descriptors of a program's eventfd(2)
 * calls. For LD_PRELOAD, under programs that cannot be changed; reventfd-run
 * sets it up.
 *
 * This file has the calls that are interposed: the C library's eventfd(), and
 * its syscall() for eventfd and eventfd2. A program that makes the system call
 * with its own assembly instructions, or asks dlsym() for the eventfd() of the
 * C library itself, is not reached.
 *
 * They may be called from a signal handler, and before any constructor has
 * run; errno is left as eventfd(2) would leave it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

/* Later kernels may know more: such a call is theirs to answer. */
#define KNOWN_FLAGS (EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK)

static int real_eventfd(unsigned int count, int flags)
{
	return real_syscall()(SYS_eventfd2, (long)count, (long)flags);
}

static void report_start(struct line *l, unsigned int number, const char *caller)
{
	line_start(l);
	line_number(l, getpid());
	line_text(l, ": eventfd #");
	line_number(l, number);
	line_text(l, " by ");
	line_text(l, file_name(caller));
	line_text(l, ": ");
}

static void warn_once(const struct options *o, int error)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;
	const char *hint = device_hint(error);
	struct line l;

	if (o->warned || atomic_flag_test_and_set(&warned))
		return;
	line_start(&l);
	line_text(&l, "cannot make a reventfd, using eventfd(2) instead: ");
	line_text(&l, strerrordesc_np(error));
	line_text(&l, *hint ? "\n  " : "");
	line_text(&l, hint);
	line_end(&l);
}

static void report_made(const struct options *o, struct line *l, int fd, int flags)
{
	line_text(l, "replaced, descriptor ");
	line_number(l, fd);
	if (flags & EFD_SEMAPHORE) {
		line_text(l, ", a semaphore, which is not limited");
	} else if (o->rate) {
		line_text(l, ", wakeups/s ");
		line_number(l, o->rate);
		line_text(l, ", burst ");
		line_number(l, o->burst);
	}
}

/* Makes the descriptor, and completes the line that says what it is. */
static int replace(const struct options *o, unsigned int count, int flags, struct line *l)
{
	int fd = make_reventfd(count, flags, o), error = errno;

	if (fd >= 0) {
		report_made(o, l, fd, flags);
		return fd;
	}
	line_text(l, o->strict ? "refused: " : "left alone: ");
	line_text(l, strerrordesc_np(error));
	if (o->strict)
		return -1;
	fd = real_eventfd(count, flags);
	if (fd >= 0)
		warn_once(o, error);
	return fd;
}

int make_eventfd(const struct options *o, unsigned int count, int flags, void *address)
{
	static atomic_uint made;
	unsigned int number = atomic_fetch_add(&made, 1) + 1;
	int before = errno, error, fd;
	const char *caller = caller_of(address);
	struct line l;

	report_start(&l, number, caller);
	if (flags & ~KNOWN_FLAGS) {
		line_text(&l, "left alone: unknown flags");
		fd = real_eventfd(count, flags);
	} else if (!options_select(o, number, caller)) {
		line_text(&l, o->dry_run ? "would be left alone" : "left alone");
		fd = real_eventfd(count, flags);
	} else if (o->dry_run) {
		line_text(&l, "would be replaced");
		fd = real_eventfd(count, flags);
	} else {
		fd = replace(o, count, flags, &l);
	}
	error = errno;
	if (o->verbose || o->dry_run)
		line_end(&l);
	errno = fd < 0 ? error : before;
	return fd;
}

static int make(unsigned int count, int flags, void *address)
{
	const struct options *o = options_ready();

	return o ? make_eventfd(o, count, flags, address) :
		   make_eventfd_early(count, flags, address);
}

INTERPOSED int eventfd(unsigned int count, int flags)
{
	return make(count, flags, __builtin_return_address(0));
}

INTERPOSED long syscall(long nr, ...)
{
	const struct options *o;
	long a[6], ret;
	va_list ap;

	/* Those that the call does not have are read as they happen to be. */
	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);

	if (nr == SYS_eventfd2)
		return make(a[0], a[1], __builtin_return_address(0));
#ifdef SYS_eventfd
	if (nr == SYS_eventfd)
		return make(a[0], 0, __builtin_return_address(0));
#endif
	ret = real_syscall()(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (ret == -1) {
		o = options_ready();
		if (o && o->verbose)
			explain_syscall(nr, a);
	}
	return ret;
}

__attribute__((constructor)) static void start_up(void)
{
	real_syscall();
	say_prepare();
	caller_prepare();
	options_prepare();
}
