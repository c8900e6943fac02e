// SPDX-License-Identifier: GPL-2.0
/* GLib: a thread wakes a main loop with g_main_context_wakeup(). glib LOAD */
#include <glib.h>

#include "load.h"

static struct queue queue;
static struct tally tally;
static GMainContext *context;

static void put(void *arg, const struct reading *r)
{
	queue_put(&queue, r);
	g_main_context_wakeup(context);
}

static void *sender(void *load)
{
	load_send(load, put, NULL);
	return NULL;
}

static gboolean any(GSource *source)
{
	gboolean some;

	pthread_mutex_lock(&queue.lock);
	some = queue.head != queue.tail;
	pthread_mutex_unlock(&queue.lock);
	return some;
}

static gboolean prepare(GSource *source, gint *timeout)
{
	*timeout = -1;
	return any(source);
}

static gboolean take_all(GSource *source, GSourceFunc callback, gpointer data)
{
	struct reading r;

	while (queue_get(&queue, &r))
		tally_take(&tally, &r);
	return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
	GSourceFuncs functions = { .prepare = prepare, .check = any, .dispatch = take_all };
	GSource *source = g_source_new(&functions, sizeof(*source));
	pthread_t thread;
	struct load load;

	load_parse(&load, argv + 1);
	queue_init(&queue, 1 << 20);
	context = g_main_context_new();
	g_source_attach(source, context);
	tally_start(&tally, load.sensors);
	pthread_create(&thread, NULL, sender, &load);
	while (!tally_done(&tally))
		g_main_context_iteration(context, TRUE);
	pthread_join(thread, NULL);
	return tally_print(&tally, "glib") ? 0 : 1;
}
