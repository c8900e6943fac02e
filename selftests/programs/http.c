// SPDX-License-Identifier: GPL-2.0
/*
 * Asks a web server for one file, many times, over several connections at a
 * time that are kept open: http PORT PATH SIZE CONNECTIONS REQUESTS
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

struct connection {
	char answer[1 << 16];
	size_t n;
	uint64_t asked_ns;
};

static char request[300];
static size_t size;
static struct tally tally;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void ask(int fd, struct connection *c)
{
	c->asked_ns = now_ns();
	if (write(fd, request, strlen(request)) != (ssize_t)strlen(request))
		fail("write");
}

static int connect_to(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		fail("connect");
	return fd;
}

/* Whether the answer is complete; it must be the right one. */
static bool take(int fd, struct connection *c)
{
	ssize_t n = read(fd, c->answer + c->n, sizeof(c->answer) - 1 - c->n);
	char *body;

	if (n <= 0)
		fail("read");
	c->n += n;
	c->answer[c->n] = 0;
	body = strstr(c->answer, "\r\n\r\n");
	if (!body || c->n - (body + 4 - c->answer) < size)
		return false;
	errno = EPROTO;
	if (strncmp(c->answer, "HTTP/1.1 200 ", 13) || c->n - (body + 4 - c->answer) != size)
		fail(c->answer);
	c->n = 0;
	return true;
}

int main(int argc, char **argv)
{
	unsigned int connections, requests, asked = 0, answered = 0;
	struct connection *c;
	struct reading r;
	struct pollfd *p;

	if (argc != 6)
		fail("usage: http PORT PATH SIZE CONNECTIONS REQUESTS");
	size = atoi(argv[3]);
	connections = atoi(argv[4]);
	requests = atoi(argv[5]);
	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", argv[2]);
	c = calloc(connections, sizeof(*c));
	p = calloc(connections, sizeof(*p));
	tally_start(&tally, 1);
	for (unsigned int i = 0; i < connections; i++, asked++) {
		p[i] = (struct pollfd) { connect_to(atoi(argv[1])), POLLIN, 0 };
		ask(p[i].fd, &c[i]);
	}
	while (answered < requests) {
		if (poll(p, connections, -1) < 0)
			fail("poll");
		for (unsigned int i = 0; i < connections; i++) {
			if (!p[i].revents || !take(p[i].fd, &c[i]))
				continue;
			r = (struct reading) { c[i].asked_ns, 0, answered++, 0, 0 };
			tally_take(&tally, &r);
			if (asked < requests) {
				asked++;
				ask(p[i].fd, &c[i]);
			}
		}
	}
	tally_sort(&tally);
	printf("readings=%u wrong=%u elapsed_us=%llu p50_us=%u p99_us=%u max_us=%u\n", tally.n,
	       tally.wrong, (unsigned long long)(now_ns() - tally.start_ns) / 1000,
	       tally_latency_us(&tally, 50), tally_latency_us(&tally, 99),
	       tally_latency_us(&tally, 100));
	return 0;
}
