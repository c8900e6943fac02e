/* SPDX-License-Identifier: GPL-2.0 */
/* What the selftests share: making counters of each kind, and looking at them. */
#ifndef _SELFTESTS_COUNTER_H
#define _SELFTESTS_COUNTER_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/reventfd.h>

/*
 * kselftest_harness.h gives a test 30 seconds. An emulated, checked and busy
 * machine may need more for the same work; what hangs, hangs after 5 minutes.
 */
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300
#endif

#define COUNT_MAX (UINT64_MAX - 1)
#define NSEC 1000000000ULL

/* What poll(3) and epoll_wait(3) call on processors without the older calls. */
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait
#endif

/* An address that is mapped nowhere, which the compiler cannot know. */
static void *volatile bad_pointer = (void *)8;

enum kind {
	EVENTFD,	/* eventfd(2): what the others are measured by */
	OPENED,		/* an open of /dev/reventfd */
	CREATED,	/* REVENTFD_IOC_CREATE */
	SHARDED,	/* the same, a part of the count for each CPU */
};

static inline int created(uint64_t count, uint32_t flags)
{
	struct reventfd_create create = { .count = count, .flags = flags };
	int device = open("/dev/reventfd", O_RDWR);
	int fd = ioctl(device, REVENTFD_IOC_CREATE, &create);

	close(device);
	return fd;
}

/* A counter at 0. @flags: EFD_NONBLOCK, EFD_CLOEXEC, and EFD_SEMAPHORE where it can be had. */
static inline int counter(enum kind kind, int flags)
{
	switch (kind) {
	case EVENTFD:
		return eventfd(0, flags);
	case OPENED:
		return open("/dev/reventfd", O_RDWR | flags);
	case SHARDED:
		return created(0, flags | REVENTFD_SHARDED);
	default:
		return created(0, flags);
	}
}

static inline ssize_t put(int fd, uint64_t n)
{
	return write(fd, &n, sizeof(n));
}

/* The value read, or -errno. */
static inline int64_t get(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? (int64_t)n : -errno;
}

static inline short polled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

/* An epoll that watches a counter for both directions, with edges. */
static inline int edge_triggered(int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
	return epoll;
}

/* What such an epoll has to report, 0 if nothing. */
static inline uint32_t edge(int epoll)
{
	struct epoll_event e = { 0 };

	return epoll_wait(epoll, &e, 1, 0) == 1 ? e.events : 0;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

static inline int limit(int fd, uint32_t rate, uint32_t burst, uint32_t flags)
{
	struct reventfd_limit l = { .rate = rate, .burst = burst, .flags = flags };

	return ioctl(fd, REVENTFD_IOC_SET_LIMIT, &l);
}

static inline struct reventfd_stats stats(int fd)
{
	struct reventfd_stats s = { 0 };

	ioctl(fd, REVENTFD_IOC_GET_STATS, &s);
	return s;
}

/* The value of @key in what /proc says of @fd, or -1. */
static inline long long info(int fd, const char *key)
{
	char path[64], line[128];
	bool hex = !strcmp(key, "eventfd-count");
	long long value = -1;
	size_t n = strlen(key);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n) && line[n] == ':')
			value = strtoull(line + n + 1, NULL, hex ? 16 : 10);
	if (f)
		fclose(f);
	return value;
}

/* Comes back when thread @tid of process @pid is asleep in system call @nr, or gone. */
static inline void await_asleep(pid_t pid, pid_t tid, long nr)
{
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	for (;;) {
		f = fopen(path, "r");
		if (!f)
			return;
		if (!fgets(line, sizeof(line), f))
			line[0] = 0;
		fclose(f);
		if (line[0] >= '0' && line[0] <= '9' && strtol(line, NULL, 10) == nr)
			return;
		sched_yield();
	}
}

#endif
