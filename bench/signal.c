// SPDX-License-Identifier: GPL-2.0
/*
 * What a signal from inside the kernel costs: eventfd_signal() against
 * reventfd_signal(), sent by kernel threads, each bound to a CPU, to one
 * counter or to a counter each.
 *
 *	signal [-s SIGNALS] [-r RUNS] [-t THREADS[,THREADS]...]
 *
 * Needs bench/kernel's module to be loaded, and root. Prints, in the columns
 * of bench.h, with the number of threads as n,
 *
 *	signal	one counter	reventfd	2	0	ns/signal	41.5
 *
 * ns/signal runs from when all threads had started to the end of the slowest,
 * and is per signal of one thread: threads that do not disturb each other,
 * with a CPU for each, need no longer than one alone. In the variants with a
 * poller, a thread polls and reads on the last CPU, where it competes with a
 * signalling thread if there is one for each CPU; "polls" is how often its
 * poll(2) came back.
 *
 * Under QEMU's -icount, which has one CPU, ns are instructions.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "kernel/requests.h"

const char *bench_name = "signal";

#define RATE 1000
#define BURST 2
#define VARIANTS 3

static const struct variant {
	const char *name;
	bool poller;
	bool each;
	enum measured kinds[4];
	int number;
} variants[VARIANTS] = {
	{ "one counter", .kinds = { M_EVENTFD, M_REVENTFD, M_SHARDED }, .number = 3 },
	{ "a counter each", .each = true,
	  .kinds = { M_EVENTFD, M_REVENTFD, M_SHARDED }, .number = 3 },
	{ "one counter, poller", .poller = true,
	  .kinds = { M_EVENTFD, M_REVENTFD, M_SHARDED, M_LIMITED }, .number = 4 },
};

static struct {
	uint64_t signals;
	int runs;
	int threads[BENCH_THREADS_MAX];
	int sizes;
} options = { 100000, 5, { 1, 2, 4 }, 3 };

struct poller {
	pthread_t id;
	pid_t tid;
	int fd;
	bool stop;
	uint64_t polls;
};

static void *poll_and_read(void *arg)
{
	struct poller *p = arg;
	struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };

	pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	__atomic_store_n(&p->tid, gettid(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&p->stop, __ATOMIC_ACQUIRE)) {
		if (poll(&pollfd, 1, -1) != 1)
			fail("poll");
		p->polls++;
		get(p->fd);
	}
	return NULL;
}

static void start_poller(struct poller *p)
{
	errno = pthread_create(&p->id, NULL, poll_and_read, p);
	if (errno)
		fail("pthread_create");
	while (!__atomic_load_n(&p->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	await_asleep(getpid(), p->tid, SYS_poll);
}

static void stop_poller(struct poller *p)
{
	__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
	put(p->fd, 1);
	pthread_join(p->id, NULL);
}

static void measure(int device, int run, const struct variant *v, enum measured kind, int threads)
{
	struct bench_signals b = {
		.eventfd = kind == M_EVENTFD,
		.threads = threads,
		.signals = options.signals,
	};
	struct poller p = { 0 };

	for (int i = 0; i < threads; i++) {
		b.fd[i] = i && !v->each ? b.fd[0] : make(kind, 0);
		if (kind == M_LIMITED && limit(b.fd[i], RATE, BURST, 0))
			fail("REVENTFD_IOC_SET_LIMIT");
	}
	p.fd = b.fd[0];
	if (v->poller)
		start_poller(&p);
	if (ioctl(device, BENCH_SIGNALS, &b))
		fail("BENCH_SIGNALS");
	if (v->poller)
		stop_poller(&p);

	record(v->name, kind, threads, run, "ns/signal", (double)b.ns / options.signals);
	if (v->poller)
		record(v->name, kind, threads, run, "polls", p.polls);
	for (int i = 0; i < (v->each ? threads : 1); i++)
		close(b.fd[i]);
}

static void measure_all(int device, int run)
{
	for (int t = 0; t < options.sizes; t++)
		for (int v = 0; v < VARIANTS; v++)
			for (int i = 0; i < variants[v].number; i++)
				measure(device, run, &variants[v],
					variants[v].kinds[run % 2 ? variants[v].number - 1 - i : i],
					options.threads[t]);
}

static bool parse_threads(char *list)
{
	options.sizes = 0;
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		int n = atoi(word);

		if (n < 1 || n > BENCH_THREADS_MAX || options.sizes == BENCH_THREADS_MAX)
			return false;
		options.threads[options.sizes++] = n;
	}
	return options.sizes;
}

static int say_how(FILE *to)
{
	fprintf(to, "usage: signal [-s SIGNALS] [-r RUNS] [-t THREADS[,THREADS]...]\n"
		"  -s  signals of each thread (100000)\n"
		"  -r  runs (5)\n"
		"  -t  numbers of threads, each at most %d (1,2,4)\n", BENCH_THREADS_MAX);
	return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	int c, device;

	while ((c = getopt(argc, argv, "s:r:t:h")) != -1) {
		if (c == 'h')
			return say_how(stdout);
		if (c == '?' || (c == 't' && !parse_threads(optarg)))
			return say_how(stderr);
		if (c == 's')
			options.signals = strtoull(optarg, NULL, 0);
		else if (c == 'r')
			options.runs = atoi(optarg);
	}
	if (!options.signals || options.runs < 1)
		return say_how(stderr);

	device = open("/dev/reventfd-bench", O_RDWR);
	if (device < 0) {
		perror("signal: /dev/reventfd-bench");
		fprintf(stderr, "  As root, load reventfd_bench.ko, which scripts/module builds\n"
			"  with CONFIG_REVENTFD_BENCH=m as its second argument.\n");
		return 1;
	}
	for (int run = 0; run < options.runs; run++)
		measure_all(device, run);
	return 0;
}
