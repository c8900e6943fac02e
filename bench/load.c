// SPDX-License-Identifier: GPL-2.0
/*
 * What a load does to its subscriber: one process publishes on CPU 0, at a
 * given pace or as fast as it can, another polls and reads on CPU 1.
 *
 *	load [-1] [-t MS] [-r RUNS] [-s offered|rates]
 *
 * With -1 both share CPU 0, and the publisher runs only while the subscriber
 * sleeps, so that each wakeup takes effect at once, as if the subscriber had
 * a CPU to itself. That is for an emulated machine: under -icount it has one
 * CPU and repeats exactly, and with two, wakeups across them are mostly those
 * of the host.
 *
 * offered: wakeups per second against the events per second that are offered,
 * on eventfd, on reventfd, and limited to 1000 wakeups per second, 2 at once.
 * rates: the subscriber's CPU against the limit, under all the events that
 * the publisher can make.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench.h"

const char *bench_name = "load";

static struct {
	int ms;
	int runs;
	const char *only;
	bool one;
} options = { 500, 5, NULL, false };

#define RATE 1000
#define BURST 2

/* Shared by both processes. */
static struct {
	/* Set before the last write is made, so that its reader knows it. */
	uint64_t total;
	uint64_t sent;
	uint64_t publisher_ns;
	uint64_t wakeups;
	uint64_t received;
	uint64_t cpu_ns;
	uint64_t subscriber_ns;
} *shared;

/* On one CPU, only while nobody else wants it. */
static void step_back(void)
{
	struct sched_param p = { 0 };

	if (sched_setscheduler(0, SCHED_IDLE, &p))
		fail("SCHED_IDLE");
}

static void publish(int fd, uint64_t per_second)
{
	uint64_t gap = per_second ? NSEC / per_second : 0;
	uint64_t start, next, end, sent = 0;

	pin(0);
	if (options.one)
		step_back();
	start = now_ns();
	next = start;
	end = start + options.ms * 1000000ULL;
	while (now_ns() < end) {
		/* Sleeping would make the load depend on how well timers work. */
		if (gap && now_ns() < next)
			continue;
		next += gap;
		/* The clock costs as much as a write: it is looked at seldom. */
		for (int i = 0; i < (gap ? 1 : 50); i++, sent++)
			if (put(fd, 1) != 8)
				fail("write");
	}
	shared->sent = sent + 1;
	shared->publisher_ns = now_ns() - start;
	__atomic_store_n(&shared->total, sent + 1, __ATOMIC_RELEASE);
	if (put(fd, 1) != 8)
		fail("write");
}

static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ULL;
}

static void subscribe(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t start, cpu;

	pin(!options.one);
	start = now_ns();
	cpu = cpu_ns();
	while (shared->received != __atomic_load_n(&shared->total, __ATOMIC_ACQUIRE)) {
		if (poll(&p, 1, -1) != 1)
			fail("poll");
		shared->wakeups++;
		shared->received += get(fd);
	}
	shared->cpu_ns = cpu_ns() - cpu;
	shared->subscriber_ns = now_ns() - start;
}

/* Both processes are done when it returns. */
static void storm(int fd, uint64_t per_second)
{
	pid_t subscriber, publisher;
	int status[2];

	memset(shared, 0, sizeof(*shared));
	shared->total = UINT64_MAX;
	subscriber = fork();
	if (!subscriber) {
		subscribe(fd);
		_exit(0);
	}
	publisher = fork();
	if (!publisher) {
		publish(fd, per_second);
		_exit(0);
	}
	if (subscriber < 0 || publisher < 0)
		fail("fork");
	if (waitpid(publisher, &status[0], 0) != publisher ||
	    waitpid(subscriber, &status[1], 0) != subscriber)
		fail("waitpid");
	if (status[0] || status[1])
		exit(1);
}

static void measure(const char *variant, int run, enum measured kind, int n,
		    uint64_t per_second, uint32_t rate)
{
	int fd = make(kind, 0);
	double seconds;

	if (rate && limit(fd, rate, BURST, 0))
		fail("REVENTFD_IOC_SET_LIMIT");
	storm(fd, per_second);
	seconds = (double)shared->subscriber_ns / NSEC;
	record(variant, kind, n, run, "events/s", shared->sent * 1e9 / shared->publisher_ns);
	record(variant, kind, n, run, "lost", (double)shared->sent - shared->received);
	record(variant, kind, n, run, "wakeups/s", shared->wakeups / seconds);
	record(variant, kind, n, run, "cpu %", shared->cpu_ns / 1e7 / seconds);
	if (rate) {
		record(variant, kind, n, run, "wakeups", shared->wakeups);
		record(variant, kind, n, run, "bound", BURST + rate * seconds);
	}
	close(fd);
}

static void measure_offered(int run)
{
	/* The last: as many as the publisher can make. */
	static const int offered[] = { 100, 300, 1000, 3000, 10000, 30000, 100000, 0 };
	static const enum measured kinds[] = { M_EVENTFD, M_REVENTFD, M_LIMITED };
	enum measured kind;

	for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
		for (int k = 0; k < 3; k++) {
			kind = kinds[turn(k, 2, run)];
			measure("offered", run, kind, offered[i], offered[i],
				kind == M_LIMITED ? RATE : 0);
		}
}

static void measure_rates(int run)
{
	static const int rates[] = { 10, 100, 1000, 10000, 100000 };

	measure("rates", run, M_EVENTFD, 0, 0, 0);
	measure("rates", run, M_REVENTFD, 0, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		measure("rates", run, M_LIMITED, rates[i], 0, rates[i]);
}

/* A machine that has just booted is still busy, and keeps the publisher waiting. */
static void warm_up(void)
{
	uint64_t late = options.ms * 1100000ULL;
	int fd = make(M_EVENTFD, 0);

	for (int i = 0, quiet = 0; i < 50 && quiet < 3; i++) {
		storm(fd, 1000);
		quiet = shared->publisher_ns < late ? quiet + 1 : 0;
	}
	close(fd);
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: load [-1] [-t MS] [-r RUNS] [-s offered|rates]\n"
		"  -1  both on one CPU, the publisher while the subscriber sleeps\n"
		"  -t  how long each storm takes (500)\n"
		"  -r  runs (5)\n"
		"  -s  only this series\n");
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "1t:r:s:h")) != -1) {
		if (c == 't')
			options.ms = atoi(optarg);
		else if (c == 'r')
			options.runs = atoi(optarg);
		else if (c == 's')
			options.only = optarg;
		else if (c == '1')
			options.one = true;
		if (c == 'h' || c == '?' || options.ms < 1 || options.runs < 1) {
			say_how(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		fail("mmap");
	warm_up();
	for (int run = 0; run < options.runs; run++) {
		if (!options.only || !strcmp(options.only, "offered"))
			measure_offered(run);
		if (!options.only || !strcmp(options.only, "rates"))
			measure_rates(run);
	}
	return 0;
}
