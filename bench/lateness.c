// SPDX-License-Identifier: GPL-2.0
/*
 * How late a deferred wakeup comes: from the instant its token exists to the
 * consumer's return from poll, beside a timerfd armed for the same distance
 * in the same run.
 *
 *	lateness [-n SAMPLES] [-i US] [-r RUNS] [-p PRIORITY] [-l PROCESSES] [-f] [-s]
 *
 * One thread writes, reads, writes again and polls: the first write spends
 * the only token, the second is due one interval after the first. The clock
 * is read before the first write, so that what is printed is at most a write
 * too much, for a timerfd at most a system call. With and without a second
 * process that keeps the other CPU busy writing; or, with -l or -f, others that
 * keep this one's CPU busy, which with -p is less urgent for them.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "bench.h"

const char *bench_name = "lateness";

static struct {
	int samples;
	int us;
	int runs;
	int priority;
	int load;
	bool fifo;
	bool summary;
} options = { .samples = 300, .us = 1000, .runs = 5 };

#define LOAD_MAX 16

/* Above the kernel's own timer threads. */
#define FIFO_PRIORITY 50

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

static void report(const char *variant, int run, enum measured kind, uint64_t *late)
{
	const char *name = kind == M_LIMITED ? "limited" : "timerfd";
	int n = options.samples;

	if (options.summary) {
		qsort(late, n, sizeof(*late), compare_u64);
		printf("%-20s %-8s median %8.1f  99 %% %8.1f  worst %8.1f us\n", variant, name,
		       late[n / 2] / 1e3, late[n * 99 / 100] / 1e3, late[n - 1] / 1e3);
		return;
	}
	for (int i = 0; i < n; i++)
		printf("%s\t%s\t%s\t%d\t%d\tns\t%llu\n", bench_name, variant, name,
		       options.us, run, (unsigned long long)late[i]);
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
	report(variant, run, kind, late);
	close(fd);
}

static pid_t start(void (*what)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid)
		what();
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void neighbour(void)
{
	int fd;

	pin(1);
	fd = make(M_REVENTFD, EFD_NONBLOCK);
	for (;;)
		put(fd, 1);
}

static void be_urgent(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	if (sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &p))
		fail("SCHED_FIFO");
}

/* Copies through a pipe, new memory, and a counter: much of it in the kernel. */
static void load(void)
{
	static char buffer[65536];
	int pipes[2], fd;
	char *memory;

	be_urgent(0);
	fd = make(M_REVENTFD, EFD_NONBLOCK);
	if (pipe(pipes))
		fail("pipe");
	for (;;) {
		if (write(pipes[1], buffer, sizeof(buffer)) != sizeof(buffer) ||
		    read(pipes[0], buffer, sizeof(buffer)) < 0)
			fail("pipe");
		memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		munmap(memory, 1 << 20);
		put(fd, 1);
	}
}

/* Real-time work of others: three milliseconds of four. */
static void fifo(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t end;

	be_urgent(FIFO_PRIORITY);
	for (;;) {
		for (end = now_ns() + 3000000; now_ns() < end;)
			;
		nanosleep(&pause, NULL);
	}
}

static void measure_all(const char *variant, int run)
{
	/* So that what the machine does over time hits both. */
	for (int part = 0; part < 2; part++) {
		sample(variant, run, (part ^ run) & 1 ? M_LIMITED : M_EVENTFD);
		sample(variant, run, (part ^ run) & 1 ? M_EVENTFD : M_LIMITED);
	}
}

static void measure_beside_neighbour(int run)
{
	pid_t pid;

	measure_all("other CPU idle", run);
	pid = start(neighbour);
	measure_all("other CPU busy", run);
	stop(pid);
}

static void measure_under_load(int run)
{
	pid_t pid[LOAD_MAX];

	measure_all("this CPU idle", run);
	for (int i = 0; i < options.load; i++)
		pid[i] = start(load);
	if (options.load)
		measure_all("this CPU busy", run);
	for (int i = 0; i < options.load; i++)
		stop(pid[i]);
	if (!options.fifo)
		return;
	pid[0] = start(fifo);
	measure_all("FIFO work between", run);
	stop(pid[0]);
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: lateness [-n SAMPLES] [-i US] [-r RUNS]\n"
		"                [-p PRIORITY] [-l PROCESSES] [-f] [-s]\n"
		"  -n  samples of each in a half run (300)\n"
		"  -i  what they wait for, us (1000)\n"
		"  -r  runs (5)\n"
		"  -p  waits with this SCHED_FIFO priority (0: without)\n"
		"  -l  instead of the other CPU keeps this one busy, with so many processes (%d at most)\n"
		"  -f  and with SCHED_FIFO work of priority %d\n"
		"  -s  prints what becomes of each half run instead of the samples\n",
		LOAD_MAX, FIFO_PRIORITY);
}

static bool valid(void)
{
	return options.samples > 0 && options.runs > 0 && options.us > 0 &&
	       options.us <= 1000000 && options.priority >= 0 && options.load >= 0 &&
	       options.load <= LOAD_MAX;
}

static bool parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:i:r:p:l:fs")) != -1) {
		if (c == 'n')
			options.samples = atoi(optarg);
		else if (c == 'i')
			options.us = atoi(optarg);
		else if (c == 'r')
			options.runs = atoi(optarg);
		else if (c == 'p')
			options.priority = atoi(optarg);
		else if (c == 'l')
			options.load = atoi(optarg);
		else if (c == 'f')
			options.fifo = true;
		else if (c == 's')
			options.summary = true;
		else
			return false;
	}
	return optind == argc && valid();
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "-h")) {
		say_how(stdout);
		return 0;
	}
	if (!parse(argc, argv)) {
		say_how(stderr);
		return 2;
	}
	pin(0);
	if (options.priority)
		be_urgent(options.priority);
	for (int run = 0; run < options.runs; run++) {
		if (options.load || options.fifo)
			measure_under_load(run);
		else
			measure_beside_neighbour(run);
	}
	return 0;
}
