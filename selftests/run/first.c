// SPDX-License-Identifier: GPL-2.0
/* libfirst.so: a library that makes eventfds, one of them before main(). */
#include <stdlib.h>
#include <sys/eventfd.h>

int first_early = -1;

int first_eventfd(unsigned int count, int flags)
{
	/* Not the last thing done here, else the call would become a jump. */
	int fd = eventfd(count, flags);

	return fd < 0 ? -1 : fd;
}

__attribute__((constructor)) static void make_early(void)
{
	if (getenv("CALLS_EARLY"))
		first_early = first_eventfd(5, EFD_CLOEXEC);
}
