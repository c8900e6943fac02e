// SPDX-License-Identifier: GPL-2.0
/*
 * A known course of things for tools to look at, on one counter that is limited
 * to a wakeup a second: three writes of 1, 2 and 4 events, of which the first
 * wakes, the second has to wait for its token and the third finds that; two
 * reads, of 1 event and of 6.
 */
#include "counter.h"

int main(void)
{
	int fd = open("/dev/reventfd", O_RDWR);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool done = fd >= 0 && !limit(fd, 1, 1, 0) && put(fd, 1) == 8 && get(fd) == 1 &&
		    put(fd, 2) == 8 && put(fd, 4) == 8 && poll(&p, 1, -1) == 1 && get(fd) == 6;

	if (!done)
		perror("sequence: /dev/reventfd did not do as it should");
	return !done;
}
