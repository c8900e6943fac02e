// SPDX-License-Identifier: GPL-2.0
/* libevent: a thread activates an event of a base that runs in another. event LOAD */
#include <stdio.h>

#include <event2/event.h>
#include <event2/thread.h>

#include "load.h"

static struct queue queue;
static struct tally tally;
static struct event *event;

static void put(void *arg, const struct reading *r)
{
	queue_put(&queue, r);
	event_active(event, EV_READ, 0);
}

static void *sender(void *load)
{
	load_send(load, put, NULL);
	return NULL;
}

static void take_all(int fd, short what, void *base)
{
	struct reading r;

	while (queue_get(&queue, &r))
		tally_take(&tally, &r);
	if (tally_done(&tally))
		event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
	struct event_base *base;
	pthread_t thread;
	struct load load;

	load_parse(&load, argv + 1);
	queue_init(&queue, 1 << 20);
	if (evthread_use_pthreads())
		fail("evthread_use_pthreads");
	base = event_base_new();
	event = event_new(base, -1, EV_PERSIST | EV_READ, take_all, base);
	event_add(event, NULL);
	tally_start(&tally, load.sensors);
	pthread_create(&thread, NULL, sender, &load);
	event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
	pthread_join(thread, NULL);
	return tally_print(&tally, "libevent") ? 0 : 1;
}
