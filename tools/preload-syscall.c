// SPDX-License-Identifier: GPL-2.0
/*
 * The C library's own syscall(), which a program's calls pass through to.
 *
 * dlsym() allocates nothing when it finds what it looks for, so that it may
 * be asked before start-up is over, even by an allocator's first call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>

#include "preload.h"

syscall_fn real_syscall(void)
{
	static atomic_uintptr_t found;
	uintptr_t real = atomic_load_explicit(&found, memory_order_relaxed);

	if (!real) {
		real = (uintptr_t)dlsym(RTLD_NEXT, "syscall");
		atomic_store_explicit(&found, real, memory_order_relaxed);
	}
	return (syscall_fn)real;
}
