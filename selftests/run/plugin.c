// SPDX-License-Identifier: GPL-2.0
/* libplugin.so.1: loaded by dlopen() only. */
#include <sys/eventfd.h>

int plugin_eventfd(unsigned int count, int flags);

int plugin_eventfd(unsigned int count, int flags)
{
	int fd = eventfd(count, flags);

	return fd < 0 ? -1 : fd;
}
