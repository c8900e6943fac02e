/* SPDX-License-Identifier: GPL-2.0 */
/* What hostile.c's crews share, and the calls of hostile_calls.c they make. */
#ifndef _SELFTESTS_HOSTILE_H
#define _SELFTESTS_HOSTILE_H

#include <stdatomic.h>

#include "counter.h"
#include "fuzz.h"

/* The descriptors that everybody uses, replaces and closes have these numbers. */
#define SLOT_FIRST	100
#define SLOTS		12
/* These stay, so that what goes in and out of them can be added up. */
#define KEPT_FIRST	90
#define KEPT		2
/* Nobody uses this one until the end. */
#define ALONE		95

#define AREA		(32UL * 1024)	/* more than the size in a command can say */
#define REPORTS		8
#define REPORT_SIZE	160

/* Shared by all processes. */
struct ledger {
	atomic_ullong added[KEPT];
	atomic_ullong taken[KEPT];
	atomic_ullong writes[KEPT];
	atomic_ullong reads[KEPT];
	atomic_ullong calls;
	atomic_int signals;	/* SIGIO, which nobody may send */
	atomic_int failures;
	char report[REPORTS][REPORT_SIZE];
};

/* The memory of one process that calls are pointed at. */
struct memory {
	char *good;	/* followed by an area without access */
	char *read_only;
	char *no_access;
	char *racing;	/* another thread unmaps, protects and maps it */
};

struct thread {
	struct dice dice;
	int socket[2];
	int epoll;
	int pipe[2];
};

extern struct ledger *ledger;
extern struct memory memory;

void hostile_call(struct thread *t);

#endif
