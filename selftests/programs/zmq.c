// SPDX-License-Identifier: GPL-2.0
/*
 * libzmq: each sensor is a publisher with a socket of its own, one subscriber
 * takes the readings of all. The subscriber binds, since there is one of it.
 *
 *   zmq inproc LOAD            both in one process
 *   zmq publish ENDPOINT LOAD
 *   zmq subscribe ENDPOINT LOAD
 *   subscriber                 a small load in one process
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "load.h"

struct publisher {
	void *context;
	const char *endpoint;
	const struct load *load;
	void *socket[SENSORS_MAX];
};

static void must(int result, const char *what)
{
	if (result < 0)
		fail(what);
}

/* Nothing is dropped, however far the subscriber is behind. */
static void no_high_water(void *socket)
{
	int none = 0;

	must(zmq_setsockopt(socket, ZMQ_SNDHWM, &none, sizeof(none)), "ZMQ_SNDHWM");
	must(zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof(none)), "ZMQ_RCVHWM");
}

/* Returns when the subscriber has heard of each: before that, readings are lost. */
static void connect_all(struct publisher *p)
{
	char subscription[8];

	for (unsigned int s = 0; s < p->load->sensors; s++) {
		p->socket[s] = zmq_socket(p->context, ZMQ_XPUB);
		no_high_water(p->socket[s]);
		must(zmq_connect(p->socket[s], p->endpoint), p->endpoint);
	}
	for (unsigned int s = 0; s < p->load->sensors; s++)
		must(zmq_recv(p->socket[s], subscription, sizeof(subscription), 0), "subscription");
}

static void publish_one(void *arg, const struct reading *r)
{
	struct publisher *p = arg;

	must(zmq_send(p->socket[r->sensor], r, sizeof(*r), 0), "zmq_send");
}

static void *publish(void *arg)
{
	struct publisher *p = arg;

	connect_all(p);
	load_send(p->load, publish_one, p);
	for (unsigned int s = 0; s < p->load->sensors; s++)
		zmq_close(p->socket[s]);
	return NULL;
}

static void *bind_subscriber(void *context, const char *endpoint)
{
	void *socket = zmq_socket(context, ZMQ_SUB);

	no_high_water(socket);
	must(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0), "ZMQ_SUBSCRIBE");
	must(zmq_bind(socket, endpoint), endpoint);
	return socket;
}

static bool subscribe(void *socket, const struct load *load, const char *name)
{
	struct reading r;
	struct tally t;
	bool right;

	tally_start(&t, load->sensors);
	while (!tally_done(&t)) {
		must(zmq_recv(socket, &r, sizeof(r), 0), "zmq_recv");
		tally_take(&t, &r);
	}
	right = tally_print(&t, name);
	zmq_close(socket);
	return right;
}

static int run(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	bool inproc = !strcmp(mode, "inproc"), right = true;
	const char *endpoint = inproc ? "inproc://readings" : argv[2];
	struct publisher p = { .endpoint = endpoint };
	pthread_t thread;
	struct load load;
	void *socket;
	char name[32];

	if (argc < 4) {
		fprintf(stderr, "usage: zmq inproc LOAD | publish|subscribe ENDPOINT LOAD\n");
		return 2;
	}
	load_parse(&load, argv + (inproc ? 2 : 3));
	p.context = zmq_ctx_new();
	p.load = &load;
	snprintf(name, sizeof(name), "zmq-%.*s", (int)strcspn(endpoint, ":"), endpoint);
	if (!strcmp(mode, "publish")) {
		publish(&p);
	} else {
		socket = bind_subscriber(p.context, endpoint);
		if (inproc)
			pthread_create(&thread, NULL, publish, &p);
		right = subscribe(socket, &load, name);
		if (inproc)
			pthread_join(thread, NULL);
	}
	zmq_ctx_term(p.context);
	return right ? 0 : 1;
}

static char *small_load[] = { "subscriber", "inproc", "200", "5:1", "10:1", NULL };

int main(int argc, char **argv)
{
	if (!strcmp(program_invocation_short_name, "subscriber"))
		return run(5, small_load);
	return run(argc, argv);
}
