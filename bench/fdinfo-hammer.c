// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs a producer that somebody reads the counter's fdinfo without
 * end: writes per second alone, with a reader on the other CPU, and with one
 * on the same.
 *
 *	fdinfo-hammer [-t MS] [-r RUNS]
 *
 * A second busy CPU and a second busy process slow the first down whatever
 * they do. So the reader changes every 40 ms between the fdinfo of
 * the counter that is written and that of another: what the producer loses
 * from the one to the other is the price, whatever the machine does meanwhile.
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
	const char *control;	/* the same, but another counter's fdinfo */
	int cpu;		/* the reader's, -1: there is none */
} placements[] = {
	{ "alone", NULL, -1 },
	{ "other CPU", "other CPU, another counter", OTHER_CPU },
	{ "same CPU", "same CPU, another counter", WRITER_CPU },
};

/* On one CPU, several of the scheduler's slices. */
#define SLICE_NS 40000000ULL

/* Of the two counters, which is written and which is not. */
enum { WRITTEN, ANOTHER, COUNTERS };

/* Shared by the processes; atomics. */
static struct {
	int subject;	/* whose fdinfo is read */
	bool stop;
	uint64_t reads[COUNTERS];
} *shared;

static int open_info(int fd)
{
	char path[64];
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY);
	if (info < 0)
		fail(path);
	return info;
}

static pid_t start_reader(const int *fd, int cpu)
{
	pid_t pid = fork();
	char text[1024];
	int info[COUNTERS], subject;

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	pin(cpu);
	for (int i = 0; i < COUNTERS; i++)
		info[i] = open_info(fd[i]);
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		subject = __atomic_load_n(&shared->subject, __ATOMIC_RELAXED);
		if (pread(info[subject], text, sizeof(text), 0) <= 0)
			fail("fdinfo");
		__atomic_store_n(&shared->reads[subject], shared->reads[subject] + 1,
				 __ATOMIC_RELAXED);
	}
	_exit(0);
}

static void await_reader(pid_t reader)
{
	int status;

	while (!__atomic_load_n(&shared->reads[WRITTEN], __ATOMIC_RELAXED)) {
		if (waitpid(reader, &status, WNOHANG) == reader)
			exit(1);
		sched_yield();
	}
}

/* Returns how many. */
static uint64_t write_until(int fd, uint64_t end)
{
	uint64_t n = 0;

	/* The clock costs as much as a write: it is looked at seldom. */
	while (now_ns() < end)
		for (int i = 0; i < 20; i++, n++)
			if (put(fd, 1) != 8)
				fail("write");
	return n;
}

static void print(const char *name, enum measured kind, int run, uint64_t writes,
		  uint64_t reads, uint64_t ns)
{
	record(name, kind, 1, run, "writes/s", writes * 1e9 / ns);
	record(name, kind, 1, run, "reads/s", reads * 1e9 / ns);
}

static void measure(int run, enum measured kind, const struct placement *place)
{
	uint64_t start, end, writes[COUNTERS] = { 0 }, ns[COUNTERS] = { 0 };
	int fd[COUNTERS], subject = WRITTEN, status = 0;
	pid_t reader = 0;

	memset(shared, 0, sizeof(*shared));
	for (int i = 0; i < COUNTERS; i++)
		fd[i] = make(kind, EFD_NONBLOCK);
	pin(WRITER_CPU);
	if (place->control) {
		reader = start_reader(fd, place->cpu);
		await_reader(reader);
	}
	end = now_ns() + options.ms * 1000000ULL * (place->control ? 2 : 1);
	do {
		__atomic_store_n(&shared->subject, subject, __ATOMIC_RELAXED);
		start = now_ns();
		writes[subject] += write_until(fd[WRITTEN], start + SLICE_NS);
		ns[subject] += now_ns() - start;
		if (place->control)
			subject = !subject;
	} while (now_ns() < end || subject != WRITTEN);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	if (reader && (waitpid(reader, &status, 0) != reader || status))
		exit(1);

	print(place->name, kind, run, writes[WRITTEN], shared->reads[WRITTEN], ns[WRITTEN]);
	if (place->control)
		print(place->control, kind, run, writes[ANOTHER], shared->reads[ANOTHER],
		      ns[ANOTHER]);
	for (int i = 0; i < COUNTERS; i++)
		close(fd[i]);
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
		"  -t  how long each takes, ms (400)\n"
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
