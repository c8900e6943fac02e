// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to take events together that were counted per CPU: the shards
 * of event_shards.c, whose locks are taken from where the reader is, against
 * a work item on each CPU; and what those locks cost the producer.
 *
 *	drain [-r CALLS] [-n ADDS]
 *
 * Needs bench/kernel's module to be loaded, and root. Prints, in the columns
 * of bench.h, with the number of CPUs that are drained as n,
 *
 *	drain	all CPUs, idle	work items	2	0	us	104.2
 *	drain	local add	lock	1	0	ns/add	20.8
 *
 * with each of the CALLS as a run, so that the minimum and the maximum are
 * there to be seen. "busy" is with a thread on each CPU that does nothing but
 * run. "one CPU" is another one than the reader's, which is CPU 0. The local
 * adds are that of the shards, with and without the full barrier that follows
 * it in reventfd, and the same steps protected by no lock: with preemption
 * disabled, and with interrupts off, which is what signals from interrupts
 * would need.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "kernel/requests.h"

const char *bench_name = "drain";

static struct {
	int calls;
	uint64_t adds;
} options = { 10, 1000000 };

static void line(const char *variant, const char *how, int n, int run, const char *metric,
		 double value)
{
	printf("%s\t%s\t%s\t%d\t%d\t%s\t%.10g\n", bench_name, variant, how, n, run, metric, value);
	fflush(stdout);
}

static bool stop;

static void *spin(void *cpu)
{
	pin((long)cpu);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

static void drain_often(int device, const char *variant, int cpu, int cpus)
{
	static const char *const how[] = { "shards", "work items" };

	for (int i = 0; i < 2 * options.calls; i++) {
		struct bench_drain b = { .how = i % 2 ? BENCH_WORK : BENCH_SHARDS, .cpu = cpu };

		/* What the call before left to be done is done. */
		usleep(20000);
		if (ioctl(device, BENCH_DRAIN, &b))
			fail("BENCH_DRAIN");
		if (b.events != (uint64_t)cpus) {
			fprintf(stderr, "drain: %d events expected, %llu taken\n", cpus,
				(unsigned long long)b.events);
			exit(1);
		}
		line(variant, how[i % 2], cpus, i / 2, "us", b.ns / 1e3);
	}
}

static void drain_busy(int device, int cpus)
{
	pthread_t thread[cpus];

	for (long i = 0; i < cpus; i++) {
		errno = pthread_create(&thread[i], NULL, spin, (void *)i);
		if (errno)
			fail("pthread_create");
	}
	drain_often(device, "all CPUs, busy", -1, cpus);
	if (cpus > 1)
		drain_often(device, "one CPU, busy", 1, 1);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < cpus; i++)
		pthread_join(thread[i], NULL);
}

static void add_locally(int device, int run)
{
	static const struct {
		const char *name;
		enum bench_how how;
	} ways[] = {
		{ "preemption off", BENCH_PREEMPT },
		{ "interrupts off", BENCH_IRQS },
		{ "lock", BENCH_SHARDS },
		{ "lock and barrier", BENCH_BARRIER },
	};

	for (int i = 0; i < 4; i++) {
		struct bench_adds b = { .how = ways[i].how, .adds = options.adds };

		if (ioctl(device, BENCH_ADDS, &b))
			fail("BENCH_ADDS");
		line("local add", ways[i].name, 1, run, "ns/add", (double)b.ns / b.adds);
	}
}

static int say_how(FILE *to)
{
	fprintf(to, "usage: drain [-r CALLS] [-n ADDS]\n"
		"  -r  calls of each kind (10)\n"
		"  -n  local adds in a run (1000000)\n");
	return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	int c, device, cpus = sysconf(_SC_NPROCESSORS_ONLN);

	while ((c = getopt(argc, argv, "r:n:h")) != -1) {
		if (c == 'h')
			return say_how(stdout);
		if (c == '?')
			return say_how(stderr);
		if (c == 'r')
			options.calls = atoi(optarg);
		else
			options.adds = strtoull(optarg, NULL, 0);
	}
	if (options.calls < 1 || !options.adds)
		return say_how(stderr);

	device = open("/dev/reventfd-bench", O_RDWR);
	if (device < 0) {
		perror("drain: /dev/reventfd-bench");
		fprintf(stderr, "  As root, load reventfd_bench.ko, which scripts/module builds\n"
			"  with CONFIG_REVENTFD_BENCH=m as its second argument.\n");
		return 1;
	}
	pin(0);
	for (int run = 0; run < 5; run++)
		add_locally(device, run);
	drain_often(device, "all CPUs, idle", -1, cpus);
	if (cpus > 1)
		drain_often(device, "one CPU, idle", 1, 1);
	drain_busy(device, cpus);
	return 0;
}
