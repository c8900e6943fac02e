// SPDX-License-Identifier: GPL-2.0
/*
 * Two producers, each on its own CPU, write to one counter as fast as they
 * can, and a consumer polls and reads: what the producers get done per
 * second, and how often the consumer was woken.
 *
 *	contended [-w WRITES] [-r RUNS]
 *
 * The producers are two threads or two processes: with threads each system
 * call also takes a reference on the file, on a cache line they share. The
 * consumer runs on CPU 1, beside the second producer, or is left out: then
 * nobody is there to be woken. The clock runs from the start flag to the end
 * of the slower producer.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>

#include "bench.h"

const char *bench_name = "contended";

static struct {
	uint64_t writes;
	int runs;
} options = { 100000, 5 };

#define RATE 1000
#define BURST 2
#define PRODUCERS 2

static const struct variant {
	const char *name;
	bool threads;
	bool consumer;
} variants[] = {
	{ "processes", false, true },
	{ "threads", true, true },
	{ "processes, no consumer", false, false },
	{ "threads, no consumer", true, false },
};

/* Shared by the processes; atomics. */
static struct {
	int ready;
	bool start;
	uint64_t end_ns;
	uint64_t wakeups;
	uint64_t received;
	uint64_t consumer_ns;
} *shared;

struct producer {
	int fd;
	int cpu;
};

static void produce(int fd, int cpu)
{
	uint64_t end, last;

	pin(cpu);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&shared->start, __ATOMIC_ACQUIRE))
		sched_yield();
	for (uint64_t i = 0; i < options.writes; i++)
		if (put(fd, 1) != 8)
			fail("write");
	end = now_ns();
	last = __atomic_load_n(&shared->end_ns, __ATOMIC_RELAXED);
	while (last < end && !__atomic_compare_exchange_n(&shared->end_ns, &last, end, false,
							  __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static void *produce_thread(void *arg)
{
	struct producer *p = arg;

	produce(p->fd, p->cpu);
	return NULL;
}

static void consume(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t start = now_ns();

	pin(1);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (shared->received != PRODUCERS * options.writes) {
		if (poll(&p, 1, -1) != 1)
			fail("poll");
		shared->wakeups++;
		shared->received += get(fd);
	}
	shared->consumer_ns = now_ns() - start;
}

static pid_t spawn(void (*what)(int fd, int cpu), int fd, int cpu)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	what(fd, cpu);
	_exit(0);
}

static void consume_process(int fd, int cpu)
{
	(void)cpu;
	consume(fd);
}

/* The threads have a process of their own: its file table is theirs alone. */
static void produce_in_threads(int fd, int cpu)
{
	struct producer producer[PRODUCERS];
	pthread_t thread[PRODUCERS];

	(void)cpu;
	for (int i = 0; i < PRODUCERS; i++) {
		producer[i] = (struct producer) { fd, i };
		errno = pthread_create(&thread[i], NULL, produce_thread, &producer[i]);
		if (errno)
			fail("pthread_create");
	}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(thread[i], NULL);
}

static uint64_t run_storm(int fd, const struct variant *v)
{
	int children = 0, status;
	uint64_t start;

	memset(shared, 0, sizeof(*shared));
	if (v->consumer) {
		spawn(consume_process, fd, 0);
		children++;
	}
	if (v->threads) {
		spawn(produce_in_threads, fd, 0);
		children++;
	} else {
		for (int i = 0; i < PRODUCERS; i++, children++)
			spawn(produce, fd, i);
	}
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < PRODUCERS + v->consumer)
		sched_yield();
	start = now_ns();
	__atomic_store_n(&shared->start, true, __ATOMIC_RELEASE);
	for (; children; children--)
		if (wait(&status) < 0 || status)
			exit(1);
	return shared->end_ns - start;
}

static void measure(int run, const struct variant *v, enum measured kind)
{
	int fd = make(kind, 0);
	uint64_t ns;

	if (kind == M_LIMITED && limit(fd, RATE, BURST, 0))
		fail("REVENTFD_IOC_SET_LIMIT");
	ns = run_storm(fd, v);
	record(v->name, kind, PRODUCERS, run, "events/ms", PRODUCERS * options.writes * 1e6 / ns);
	if (v->consumer) {
		record(v->name, kind, PRODUCERS, run, "wakeups", shared->wakeups);
		if (kind == M_LIMITED)
			record(v->name, kind, PRODUCERS, run, "bound",
			       BURST + RATE * (double)shared->consumer_ns / NSEC);
	}
	close(fd);
}

static void measure_all(int run)
{
	static const enum measured kinds[] = { M_EVENTFD, M_REVENTFD, M_LIMITED, M_SHARDED };

	for (size_t v = 0; v < ARRAY_SIZE(variants); v++)
		for (int i = 0; i < 4; i++)
			if (have(kinds[turn(i, 3, run)]))
				measure(run, &variants[v], kinds[turn(i, 3, run)]);
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: contended [-w WRITES] [-r RUNS]\n"
		"  -w  writes of each producer (100000)\n"
		"  -r  runs (5)\n");
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "w:r:h")) != -1) {
		if (c == 'w')
			options.writes = strtoull(optarg, NULL, 0);
		else if (c == 'r')
			options.runs = atoi(optarg);
		if (c == 'h' || c == '?' || !options.writes || options.runs < 1) {
			say_how(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		fail("mmap");
	for (int run = 0; run < options.runs; run++)
		measure_all(run);
	return 0;
}
