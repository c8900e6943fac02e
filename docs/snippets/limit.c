// SPDX-License-Identifier: GPL-2.0
/* To build it: gcc -Wall limit.c */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/reventfd.h>

static int failed(const char *what)
{
	perror(what);
	return 1;
}

int main(void)
{
	int fd = open("/dev/reventfd", O_RDWR);	/* instead of eventfd(0, 0) */
	struct reventfd_limit limit = { .rate = 1000, .burst = 2 };
	struct pollfd consumer = { .fd = fd, .events = POLLIN };
	struct reventfd_stats stats;
	uint64_t n;

	if (fd < 0)
		return failed("/dev/reventfd");
	if (ioctl(fd, REVENTFD_IOC_SET_LIMIT, &limit))
		return failed("REVENTFD_IOC_SET_LIMIT");

	for (n = 1; n <= 3; n++)
		if (write(fd, &n, sizeof(n)) != sizeof(n))
			return failed("write");

	if (poll(&consumer, 1, -1) != 1 || read(fd, &n, sizeof(n)) != sizeof(n))
		return failed("read");
	if (ioctl(fd, REVENTFD_IOC_GET_STATS, &stats))
		return failed("REVENTFD_IOC_GET_STATS");
	printf("%llu events in %llu writes and %llu read\n", (unsigned long long)n,
	       (unsigned long long)stats.writes, (unsigned long long)stats.reads);
	return 0;
}
