/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmarks share. Each prints one measurement a line, in columns
 * separated by tabs:
 *
 *	bench	variant	kind	n	run	metric	value
 *
 * scripts/bench-report makes the medians, the tables and the plots of them.
 */
#ifndef _BENCH_BENCH_H
#define _BENCH_BENCH_H

#include <pthread.h>

#include "../selftests/counter.h"

#ifndef REVENTFD_SHARDED
#define REVENTFD_SHARDED 0x80000000U
#endif

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

enum measured {
	M_EVENTFD,
	M_REVENTFD,	/* an open of /dev/reventfd */
	M_CREATED,	/* REVENTFD_IOC_CREATE */
	M_SHARDED,	/* the same, with a count per CPU */
	M_LIMITED,	/* an open of /dev/reventfd, limited by the caller */
	M_KINDS
};

static const char *const kind_name[M_KINDS] = {
	"eventfd", "reventfd", "created", "sharded", "limited"
};

/* The name of the program and where it is, for the messages. */
extern const char *bench_name;

static inline void fail(const char *what)
{
	int err = errno;

	fprintf(stderr, "%s: %s: %s\n", bench_name, what, strerror(err));
	if (err == ENOENT)
		fprintf(stderr, "  Is the module loaded? Try 'modprobe reventfd'.\n");
	exit(1);
}

/* A counter of @kind at 0. */
static inline int make(enum measured kind, int flags)
{
	static const enum kind opened[M_KINDS] = {
		[M_EVENTFD] = EVENTFD, [M_REVENTFD] = OPENED, [M_LIMITED] = OPENED,
		[M_CREATED] = CREATED,
	};
	int fd;

	fd = kind == M_SHARDED ? created(0, flags | REVENTFD_SHARDED) :
				 counter(opened[kind], flags);
	if (fd < 0)
		fail(kind_name[kind]);
	return fd;
}

/* Modules from before there were shards refuse them: then there is no such row. */
static inline bool have(enum measured kind)
{
	int fd;

	if (kind != M_SHARDED)
		return true;
	fd = created(0, REVENTFD_SHARDED);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("cannot run on the CPU asked for");
}

/* One line of the output. */
static inline void record(const char *variant, enum measured kind, int n, int run,
			  const char *metric, double value)
{
	printf("%s\t%s\t%s\t%d\t%d\t%s\t%.10g\n", bench_name, variant, kind_name[kind], n,
	       run, metric, value);
	fflush(stdout);
}

/* The kinds take turns, and every other run in the opposite order. */
static inline enum measured turn(enum measured i, enum measured last, int run)
{
	return run % 2 ? last - i : i;
}

static inline int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts @values. */
static inline uint64_t median(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_u64);
	return values[n / 2];
}

#endif
