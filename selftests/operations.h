/* SPDX-License-Identifier: GPL-2.0 */
/* What differential.c does to a world of counters, and what comes of it. */
#ifndef _SELFTESTS_OPERATIONS_H
#define _SELFTESTS_OPERATIONS_H

#include "counter.h"
#include "fuzz.h"

#define SLOTS	3	/* counters in a world */
#define EPOLLS	2	/* epoll instances; the second watches the first, too */
#define VALUES	16

/* Chosen once, run in each world. The arguments mean what @code makes of them. */
struct operation {
	unsigned int code;
	unsigned int slot;
	uint64_t a, b;
};

/* All that can be seen of an operation; what is not used is 0. */
struct outcome {
	int64_t ret;
	int64_t err;
	uint64_t value[VALUES];
};

struct slot {
	int fd;
	/*
	 * The two numbers that @fd takes in turn. epoll knows its files by
	 * number, too, so both worlds must get theirs in the same order.
	 */
	int home[2];
	/* What the calls so far left in it, to know which would sleep for ever. */
	uint64_t count;
	bool semaphore;
};

struct world {
	enum kind kind;
	struct slot slot[SLOTS];
	int epoll[EPOLLS];
	int pipe[2];
	int socket[2];
};

void world_open(struct world *w, enum kind kind);
void world_close(struct world *w);
void choose_operation(struct dice *dice, struct operation *op);
void operate(struct world *w, const struct operation *op, struct outcome *out);
void print_operation(const struct operation *op);
void print_outcome(const char *whose, const struct outcome *out);

#endif
