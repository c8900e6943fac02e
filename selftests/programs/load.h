/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The load that the programs here carry: many sensors, each with a period of
 * its own, and one consumer that must see every reading of each, in order.
 * None of it knows of reventfd, but for the consumer's own look, at the end,
 * at what its descriptors say of themselves.
 */
#ifndef _SELFTESTS_LOAD_H
#define _SELFTESTS_LOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SENSORS_MAX 256

struct reading {
	uint64_t sent_ns;
	uint32_t sensor;
	uint32_t number;
	uint32_t last;		/* there comes no more of this sensor */
	uint32_t pad;
};

/* When which sensor is due within the longest period, over and over. */
struct due {
	uint64_t at_ns;
	uint32_t sensor;
};

struct load {
	unsigned int sensors;
	unsigned int cycles;
	uint64_t cycle_ns;
	unsigned int n;
	struct due *due;
};

/*
 * MS PERIOD:SENSORS..., the periods in ms and divisors of the longest;
 * what is due in one period is spread evenly over it.
 */
void load_parse(struct load *l, char **arg);

/* Sends every reading when it is due, and after that the last of each sensor. */
void load_send(const struct load *l, void (*send)(void *arg, const struct reading *r), void *arg);

/* What the consumer has seen, and what it cost the thread that calls tally_start(). */
struct tally {
	unsigned int sensors;
	unsigned int open;
	uint32_t next[SENSORS_MAX];
	uint32_t wrong;
	uint32_t *latency_ns;
	unsigned int n;
	unsigned int room;
	uint64_t start_ns;
	uint64_t cpu_ns;
	uint64_t switches;
};

void tally_start(struct tally *t, unsigned int sensors);
void tally_take(struct tally *t, const struct reading *r);

static inline bool tally_done(const struct tally *t)
{
	return !t->open;
}

/* The shortest time that so many percent of the readings took at most. */
void tally_sort(struct tally *t);
unsigned int tally_latency_us(const struct tally *t, unsigned int percent);

/* Prints the line of results; false if a reading was lost, doubled or out of order. */
bool tally_print(struct tally *t, const char *name);

/* From the sender's thread to the consumer's, for event loops that bring but a wakeup. */
struct queue {
	pthread_mutex_t lock;
	struct reading *ring;
	unsigned int head, tail, room;
};

void queue_init(struct queue *q, unsigned int room);
void queue_put(struct queue *q, const struct reading *r);
bool queue_get(struct queue *q, struct reading *r);

/* Says what failed, and ends the program. */
void fail(const char *what);

#endif
