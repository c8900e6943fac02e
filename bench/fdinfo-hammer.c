// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs a producer that somebody reads the counter's fdinfo without
 * end: writes per second alone, with a reader on the other CPU, and with one
 * on the same.
 *
 *	fdinfo-hammer [-t MS] [-r RUNS]
 *
 * A second busy CPU and a second busy process slow the first down whatever
 * they do, so the reader is also let loose on the fdinfo of another counter:
 * what the producer loses from there to its own counter's is the price.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bench.h"

const char *bench_name = "fdinfo-hammer";

static struct {
	int ms;
	int runs;
} options = { 400, 5 };

enum { WRITER_CPU, OTHER_CPU };

static const struct placement {
	const char *name;
	int cpu;	/* the reader's, -1: there is none */
	bool own;	/* it reads of the counter that is written */
} placements[] = {
	{ "alone", -1, false },
	{ "other CPU, another counter", OTHER_CPU, false },
	{ "other CPU", OTHER_CPU, true },
	{ "same CPU, another counter", WRITER_CPU, false },
	{ "same CPU", WRITER_CPU, true },
};

/* Shared by the processes; atomics. */
static struct {
	bool reading;
	bool stop;
	uint64_t reads;
} *shared;

static pid_t start_reader(int fd, int cpu)
{
	pid_t pid = fork();
	char path[64], text[1024];
	int info;

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	pin(cpu);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY);
	if (info < 0)
		fail(path);
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		if (pread(info, text, sizeof(text), 0) <= 0)
			fail("fdinfo");
		__atomic_store_n(&shared->reads, shared->reads + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&shared->reading, true, __ATOMIC_RELAXED);
	}
	_exit(0);
}

/* Returns how many. */
static uint64_t write_on(int fd, uint64_t end)
{
	uint64_t n = 0;

	/* The clock costs as much as a write: it is looked at seldom. */
	while (now_ns() < end)
		for (int i = 0; i < 50; i++, n++)
			if (put(fd, 1) != 8)
				fail("write");
	return n;
}

static void measure(int run, enum measured kind, const struct placement *place)
{
	int fd = make(kind, EFD_NONBLOCK), other = make(kind, EFD_NONBLOCK), status = 0;
	uint64_t start, writes, reads;
	pid_t reader = 0;

	memset(shared, 0, sizeof(*shared));
	pin(WRITER_CPU);
	if (place->cpu >= 0) {
		reader = start_reader(place->own ? fd : other, place->cpu);
		while (!__atomic_load_n(&shared->reading, __ATOMIC_RELAXED)) {
			if (waitpid(reader, &status, WNOHANG) == reader)
				exit(1);
			sched_yield();
		}
	}
	reads = __atomic_load_n(&shared->reads, __ATOMIC_RELAXED);
	start = now_ns();
	writes = write_on(fd, start + options.ms * 1000000ULL);
	reads = __atomic_load_n(&shared->reads, __ATOMIC_RELAXED) - reads;
	start = now_ns() - start;
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	if (reader && (waitpid(reader, &status, 0) != reader || status))
		exit(1);

	record(place->name, kind, 1, run, "writes/s", writes * 1e9 / start);
	record(place->name, kind, 1, run, "reads/s", reads * 1e9 / start);
	close(fd);
	close(other);
}

static void measure_all(int run)
{
	static const enum measured kinds[] = { M_EVENTFD, M_REVENTFD, M_SHARDED };

	for (size_t p = 0; p < ARRAY_SIZE(placements); p++)
		for (int i = 0; i < 3; i++)
			if (have(kinds[turn(i, 2, run)]))
				measure(run, kinds[turn(i, 2, run)], &placements[p]);
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: fdinfo-hammer [-t MS] [-r RUNS]\n"
		"  -t  how long each takes (400)\n"
		"  -r  runs (5)\n");
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "t:r:h")) != -1) {
		if (c == 't')
			options.ms = atoi(optarg);
		else if (c == 'r')
			options.runs = atoi(optarg);
		if (c == 'h' || c == '?' || options.ms < 1 || options.runs < 1) {
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
