// SPDX-License-Identifier: GPL-2.0
/* libuv: a thread wakes an event loop with uv_async_send(). uv LOAD */
#include <stdio.h>

#include <uv.h>

#include "load.h"

static struct queue queue;
static struct tally tally;
static uv_async_t async;

static void put(void *arg, const struct reading *r)
{
	queue_put(&queue, r);
	uv_async_send(&async);
}

static void *sender(void *load)
{
	load_send(load, put, NULL);
	return NULL;
}

static void take_all(uv_async_t *handle)
{
	struct reading r;

	while (queue_get(&queue, &r))
		tally_take(&tally, &r);
	if (tally_done(&tally))
		uv_stop(handle->loop);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	struct load load;

	load_parse(&load, argv + 1);
	queue_init(&queue, 1 << 20);
	if (uv_async_init(uv_default_loop(), &async, take_all))
		fail("uv_async_init");
	tally_start(&tally, load.sensors);
	pthread_create(&thread, NULL, sender, &load);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	pthread_join(thread, NULL);
	return tally_print(&tally, "libuv") ? 0 : 1;
}
