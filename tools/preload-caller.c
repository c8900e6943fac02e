// SPDX-License-Identifier: GPL-2.0
/*
 * Who calls: the program or library that an address lies in.
 *
 * dladdr() and dl_iterate_phdr() lock, and cannot be called from a signal
 * handler. _dl_find_object(), which glibc has for unwinding, neither locks nor
 * allocates, and it knows what was loaded after start-up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

/* The loader has no name for the program itself. */
static char program[PATH_MAX];

void caller_prepare(void)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[n < 0 ? 0 : n] = 0;
}

const char *caller_of(void *address)
{
	struct dl_find_object object;

	if (_dl_find_object(address, &object))
		return "code of no file";
	if (object.dlfo_link_map->l_name[0])
		return object.dlfo_link_map->l_name;
	if (!program[0])
		caller_prepare();
	return program[0] ? program : "the program";
}
