// SPDX-License-Identifier: GPL-2.0
/*
 * How late a deferred wakeup comes: from the instant its token exists to the
 * consumer's return from poll, beside a timerfd armed for the same distance
 * in the same run.
 *
 *	lateness [-n SAMPLES] [-i US] [-r RUNS]
 *
 * One thread writes, reads, writes again and polls: the first write spends
 * the only token, the second is due one interval after the first. The clock
 * is read before the first write, so that what is printed is at most a write
 * too much, for a timerfd at most a system call. With and without a second
 * process that keeps the other CPU busy writing.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "bench.h"

const char *bench_name = "lateness";

static struct {
	int samples;
	int us;
	int runs;
} options = { 300, 1000, 5 };

static void await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, -1) != 1)
		fail("poll");
}

/* Returns when what was waited for was due. */
static uint64_t wait_for_debt(int fd)
{
	uint64_t start;

	/* The bucket is full again. */
	if (limit(fd, 1000000 / options.us, 1, 0))
		fail("REVENTFD_IOC_SET_LIMIT");
	start = now_ns();
	if (put(fd, 1) != 8 || get(fd) != 1 || put(fd, 1) != 8)
		fail("write");
	await(fd);
	return start + options.us * 1000ULL;
}

static uint64_t wait_for_timer(int fd)
{
	uint64_t due = now_ns() + options.us * 1000ULL;
	struct itimerspec when = {
		.it_value = { .tv_sec = due / NSEC, .tv_nsec = due % NSEC },
	};

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL))
		fail("timerfd_settime");
	await(fd);
	return due;
}

static void sample(const char *variant, int run, enum measured kind)
{
	int fd = kind == M_LIMITED ? make(kind, EFD_NONBLOCK) :
				     timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	uint64_t due, late[options.samples];

	if (fd < 0)
		fail("timerfd_create");
	for (int i = 0; i < options.samples; i++) {
		due = kind == M_LIMITED ? wait_for_debt(fd) : wait_for_timer(fd);
		late[i] = now_ns() - due;
		get(fd);
	}
	for (int i = 0; i < options.samples; i++)
		printf("%s\t%s\t%s\t%d\t%d\tns\t%llu\n", bench_name, variant,
		       kind == M_LIMITED ? "limited" : "timerfd", options.us, run,
		       (unsigned long long)late[i]);
	close(fd);
}

static pid_t start_neighbour(void)
{
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	pin(1);
	fd = make(M_REVENTFD, EFD_NONBLOCK);
	for (;;)
		put(fd, 1);
}

static void measure_all(const char *variant, int run)
{
	/* So that what the machine does over time hits both. */
	for (int part = 0; part < 2; part++) {
		sample(variant, run, (part ^ run) & 1 ? M_LIMITED : M_EVENTFD);
		sample(variant, run, (part ^ run) & 1 ? M_EVENTFD : M_LIMITED);
	}
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: lateness [-n SAMPLES] [-i US] [-r RUNS]\n"
		"  -n  samples of each in a half run (300)\n"
		"  -i  what they wait for, us (1000)\n"
		"  -r  runs (5)\n");
}

int main(int argc, char **argv)
{
	pid_t neighbour;
	int c;

	while ((c = getopt(argc, argv, "n:i:r:h")) != -1) {
		if (c == 'n')
			options.samples = atoi(optarg);
		else if (c == 'i')
			options.us = atoi(optarg);
		else if (c == 'r')
			options.runs = atoi(optarg);
		if (c == 'h' || c == '?' || options.samples < 1 || options.runs < 1 ||
		    options.us < 1 || options.us > 1000000) {
			say_how(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	pin(0);
	for (int run = 0; run < options.runs; run++) {
		measure_all("other CPU idle", run);
		neighbour = start_neighbour();
		measure_all("other CPU busy", run);
		kill(neighbour, SIGKILL);
		waitpid(neighbour, NULL, 0);
	}
	return 0;
}
