// SPDX-License-Identifier: GPL-2.0
/*
 * libreventfd-watch.so: sees the ioctl()s by which KVM, VFIO and vhost are
 * given eventfds. A library of its own, which reventfd-run preloads only with
 * --verbose, so that without nobody's ioctl() passes through here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

#include "preload.h"

typedef int (*ioctl_fn)(int fd, unsigned long request, ...);

static ioctl_fn real_ioctl(void)
{
	static atomic_uintptr_t found;
	uintptr_t real = atomic_load_explicit(&found, memory_order_relaxed);

	if (!real) {
		real = (uintptr_t)dlsym(RTLD_NEXT, "ioctl");
		atomic_store_explicit(&found, real, memory_order_relaxed);
	}
	return (ioctl_fn)real;
}

INTERPOSED int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);

	ret = real_ioctl()(fd, request, arg);
	if (ret == -1)
		explain_ioctl(request, arg);
	return ret;
}

__attribute__((constructor)) static void start_up(void)
{
	real_ioctl();
	say_prepare();
}
