// SPDX-License-Identifier: GPL-2.0
/*
 * A program for tools to look at. Its descriptor 3 is a reventfd, or, where
 * there is no device, an eventfd; what else it holds, the options say. When
 * all is there it prints "ready". It ends when it is killed.
 *
 * It knows nothing of limits.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "counter.h"

#define COUNTER 3

static void fail(const char *what)
{
	fprintf(stderr, "publisher: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void explain(void)
{
	fputs("usage: publisher [-p] [-c COUNT] [-s COUNT] [-e N] [-f] [-n NAME]\n"
	      "  -p         publishes an event a millisecond, to a subscriber thread\n"
	      "  -c COUNT   the value of descriptor 3\n"
	      "  -s COUNT   another descriptor, a semaphore of this value\n"
	      "  -e N       N eventfds, of the values 1 to N\n"
	      "  -f         a child with the same descriptors\n"
	      "  -n NAME    what the process is called\n", stderr);
	exit(2);
}

static void *subscribe(void *unused)
{
	struct pollfd p = { .fd = COUNTER, .events = POLLIN };

	for (;;)
		if (poll(&p, 1, -1) == 1)
			get(COUNTER);
	return unused;
}

static void *publish(void *unused)
{
	const struct itimerspec ms = { .it_interval.tv_nsec = 1000000, .it_value.tv_nsec = 1 };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(timer, 0, &ms, NULL);
	while (get(timer) > 0)
		put(COUNTER, 1);
	return unused;
}

static void run_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		fail("cannot start a thread");
}

static void hold_eventfds(unsigned int n)
{
	struct rlimit files = { n + 100, n + 100 };

	if (setrlimit(RLIMIT_NOFILE, &files))
		fail("cannot have so many files");
	for (unsigned int i = 1; i <= n; i++)
		if (eventfd(i, 0) < 0)
			fail("eventfd");
}

static void hold_semaphore(uint64_t count)
{
	struct reventfd_create create = { .count = count, .flags = EFD_SEMAPHORE };

	if (ioctl(COUNTER, REVENTFD_IOC_CREATE, &create) < 0)
		fail("cannot make a semaphore");
}

int main(int argc, char **argv)
{
	bool pump = false;
	int option;

	close(COUNTER);
	if (open("/dev/reventfd", O_RDWR) != COUNTER && eventfd(0, 0) != COUNTER)
		fail("cannot have a counter at 3");
	while ((option = getopt(argc, argv, "pc:s:e:fn:")) != -1) {
		switch (option) {
		case 'p':
			pump = true;
			break;
		case 'c':
			put(COUNTER, strtoull(optarg, NULL, 10));
			break;
		case 's':
			hold_semaphore(strtoull(optarg, NULL, 10));
			break;
		case 'e':
			hold_eventfds(atoi(optarg));
			break;
		case 'f':
			if (!fork()) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				pause();
			}
			break;
		case 'n':
			prctl(PR_SET_NAME, optarg);
			break;
		default:
			explain();
		}
	}
	if (pump) {
		run_thread(subscribe);
		run_thread(publish);
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
