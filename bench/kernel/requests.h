/* SPDX-License-Identifier: GPL-2.0 */
/* What the benchmarks ask of /dev/reventfd-bench, the module beside this. */
#ifndef _BENCH_KERNEL_REQUESTS_H
#define _BENCH_KERNEL_REQUESTS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define BENCH_THREADS_MAX 8

/**
 * struct bench_signals - kernel threads signal counters as fast as they can
 * @eventfd: not 0: the descriptors are eventfds, otherwise reventfds
 * @threads: how many threads; each is bound to a CPU, in turn
 * @signals: how many signals each sends, of 1
 * @ns: comes back: from when all had started to the end of the slowest
 * @fd: the counter of each thread
 */
struct bench_signals {
	__u32 eventfd;
	__u32 threads;
	__u64 signals;
	__u64 ns;
	__s32 fd[BENCH_THREADS_MAX];
};

/* How events are taken from, or added to, a count per CPU. */
enum bench_how {
	BENCH_SHARDS,	/* by the shard's spinlock, from where one is: as reventfd does */
	BENCH_WORK,	/* by a work item on the CPU, where preemption protects the count */
	BENCH_PREEMPT,	/* with preemption disabled */
	BENCH_IRQS,	/* with interrupts off, which is what signals from interrupts need */
	BENCH_BARRIER,	/* BENCH_SHARDS and the full barrier that follows */
};

/**
 * struct bench_drain - take what is in the counts of other CPUs
 * @how: BENCH_SHARDS or BENCH_WORK
 * @cpu: which CPU's, or -1: all
 * @ns: comes back: what it took
 * @events: comes back: how many events there were; one on each CPU
 */
struct bench_drain {
	__u32 how;
	__s32 cpu;
	__u64 ns;
	__u64 events;
};

/**
 * struct bench_adds - add to this CPU's count, over and over
 * @how: enum bench_how, but BENCH_WORK
 * @pad: zero
 * @adds: how often
 * @ns: comes back: what it took
 */
struct bench_adds {
	__u32 how;
	__u32 pad;
	__u64 adds;
	__u64 ns;
};

#define BENCH_SIGNALS	_IOWR(0xEF, 0x50, struct bench_signals)
#define BENCH_DRAIN	_IOWR(0xEF, 0x51, struct bench_drain)
#define BENCH_ADDS	_IOWR(0xEF, 0x52, struct bench_adds)

#ifdef __KERNEL__
int bench_signals(struct bench_signals *b);
int bench_drain(struct bench_drain *b);
int bench_adds(struct bench_adds *b);
int bench_shards_init(void);
void bench_shards_exit(void);
#endif

#endif
