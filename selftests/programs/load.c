// SPDX-License-Identifier: GPL-2.0
/* The sensors, and the queue by which their readings reach an event loop. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

#define MSEC 1000000ULL
#define SEC 1000000000ULL

void fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static int earlier(const void *a, const void *b)
{
	const struct due *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

static void spread(struct load *l, uint64_t period_ns, unsigned int sensors)
{
	for (unsigned int i = 0; i < sensors; i++, l->sensors++)
		for (uint64_t at = period_ns * i / sensors; at < l->cycle_ns; at += period_ns)
			l->due[l->n++] = (struct due) { at, l->sensors };
}

void load_parse(struct load *l, char **arg)
{
	unsigned int periods[16], sensors[16], kinds = 0, longest = 0, ms;

	errno = EINVAL;
	*l = (struct load) { 0 };
	ms = *arg ? atoi(*arg++) : 0;
	for (; *arg && kinds < 16; arg++, kinds++) {
		if (sscanf(*arg, "%u:%u", &periods[kinds], &sensors[kinds]) != 2 || !periods[kinds])
			fail(*arg);
		if (periods[kinds] > longest)
			longest = periods[kinds];
	}
	if (!ms || !longest)
		fail("MS PERIOD:SENSORS...");
	l->cycle_ns = longest * MSEC;
	l->cycles = ms * MSEC / l->cycle_ns;
	/* No more than one reading a microsecond. */
	l->due = calloc(longest * 1000, sizeof(*l->due));
	for (unsigned int i = 0; i < kinds; i++) {
		if (l->sensors + sensors[i] > SENSORS_MAX)
			fail("too many sensors");
		spread(l, periods[i] * MSEC, sensors[i]);
	}
	qsort(l->due, l->n, sizeof(*l->due), earlier);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SEC + t.tv_nsec;
}

/* The sensors' clock. What is overdue is not waited for. */
static void await(int timer, uint64_t ns)
{
	struct itimerspec at = { .it_value = { ns / SEC, ns % SEC } };
	uint64_t n;

	if (now_ns() >= ns)
		return;
	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) ||
	    read(timer, &n, sizeof(n)) != sizeof(n))
		fail("timerfd");
}

void load_send(const struct load *l, void (*send)(void *arg, const struct reading *r), void *arg)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint32_t number[SENSORS_MAX] = { 0 };
	uint64_t start = now_ns();

	for (unsigned int cycle = 0; cycle < l->cycles; cycle++, start += l->cycle_ns) {
		for (unsigned int i = 0; i < l->n; i++) {
			uint32_t s = l->due[i].sensor;

			await(timer, start + l->due[i].at_ns);
			send(arg, &(struct reading) { now_ns(), s, number[s]++, 0, 0 });
		}
	}
	for (uint32_t s = 0; s < l->sensors; s++)
		send(arg, &(struct reading) { now_ns(), s, number[s]++, 1, 0 });
	close(timer);
}

void queue_init(struct queue *q, unsigned int room)
{
	*q = (struct queue) { .lock = PTHREAD_MUTEX_INITIALIZER, .room = room };
	q->ring = calloc(room, sizeof(*q->ring));
}

void queue_put(struct queue *q, const struct reading *r)
{
	pthread_mutex_lock(&q->lock);
	if (q->head - q->tail == q->room) {
		errno = ENOBUFS;
		fail("the queue is full");
	}
	q->ring[q->head++ % q->room] = *r;
	pthread_mutex_unlock(&q->lock);
}

bool queue_get(struct queue *q, struct reading *r)
{
	bool any;

	pthread_mutex_lock(&q->lock);
	any = q->head != q->tail;
	if (any)
		*r = q->ring[q->tail++ % q->room];
	pthread_mutex_unlock(&q->lock);
	return any;
}
