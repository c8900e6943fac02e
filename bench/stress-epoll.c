// SPDX-License-Identifier: GPL-2.0
/*
 * Many producers, one consumer: n threads write as fast as they can, each to
 * its own non-blocking descriptor or all to the same, and one thread waits
 * for all of them with one level-triggered epoll and reads what is there.
 *
 *	stress-epoll [-w WRITES | -e EVENTS] [-r RUNS] [-p N[,N]...]
 *
 * Each producer makes exactly as many writes; the clock runs from the start
 * flag, for which all wait, to the consumer's last event.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/resource.h>

#include "bench.h"

#define PRODUCERS_MAX 1024
#define BATCH 64

const char *bench_name = "stress-epoll";

static struct {
	uint64_t writes;
	uint64_t events;
	int runs;
	int n[16];
	int steps;
	uint32_t rate;
	uint32_t burst;
} options = { 1000000, 0, 5, { 8, 16, 32, 64, 128 }, 5, 1000, 2 };

struct storm {
	enum measured kind;
	bool shared;
	int n;
	uint64_t writes;	/* of each producer */
	int fd[PRODUCERS_MAX];
	int epoll;
	/* Held for writing until the start. */
	pthread_rwlock_t start;
};

struct result {
	uint64_t ns;
	uint64_t waits;		/* returns of epoll_wait */
	uint64_t reads;
	uint64_t switches;	/* the consumer's, voluntary */
	uint64_t wakeups;	/* as the counters have counted them */
};

struct producer {
	struct storm *storm;
	int fd;
};

static void *produce(void *arg)
{
	struct producer *p = arg;
	struct storm *s = p->storm;

	pthread_rwlock_rdlock(&s->start);
	pthread_rwlock_unlock(&s->start);
	for (uint64_t i = 0; i < s->writes; i++)
		if (put(p->fd, 1) != 8)
			fail("write");
	return NULL;
}

static void open_all(struct storm *s)
{
	struct epoll_event e = { .events = EPOLLIN };

	s->epoll = epoll_create1(0);
	if (s->epoll < 0)
		fail("epoll_create1");
	for (int i = 0; i < s->n; i++) {
		if (s->shared && i) {
			s->fd[i] = s->fd[0];
			continue;
		}
		s->fd[i] = make(s->kind, EFD_NONBLOCK);
		if (s->kind == M_LIMITED && limit(s->fd[i], options.rate, options.burst, 0))
			fail("REVENTFD_IOC_SET_LIMIT");
		e.data.fd = s->fd[i];
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->fd[i], &e))
			fail("epoll_ctl");
	}
}

static void close_all(struct storm *s, struct result *r)
{
	for (int i = 0; i < (s->shared ? 1 : s->n); i++) {
		if (s->kind != M_EVENTFD)
			r->wakeups += stats(s->fd[i]).wakeups;
		close(s->fd[i]);
	}
	close(s->epoll);
}

static void consume(struct storm *s, struct result *r)
{
	struct epoll_event events[BATCH];
	uint64_t left = s->writes * s->n;
	int64_t n;
	int ready;

	while (left) {
		ready = epoll_wait(s->epoll, events, BATCH, -1);
		if (ready < 0)
			fail("epoll_wait");
		r->waits++;
		for (int i = 0; i < ready; i++) {
			n = get(events[i].data.fd);
			if (n < 0 && n != -EAGAIN)
				fail("read");
			r->reads++;
			left -= n > 0 ? n : 0;
		}
	}
}

static struct result run_storm(struct storm *s)
{
	static pthread_t thread[PRODUCERS_MAX];
	static struct producer producer[PRODUCERS_MAX];
	struct result r = { 0 };
	struct rusage before, after;

	open_all(s);
	pthread_rwlock_init(&s->start, NULL);
	pthread_rwlock_wrlock(&s->start);
	for (int i = 0; i < s->n; i++) {
		producer[i] = (struct producer) { s, s->fd[i] };
		errno = pthread_create(&thread[i], NULL, produce, &producer[i]);
		if (errno)
			fail("pthread_create");
	}
	getrusage(RUSAGE_THREAD, &before);
	r.ns = now_ns();
	pthread_rwlock_unlock(&s->start);
	consume(s, &r);
	r.ns = now_ns() - r.ns;
	getrusage(RUSAGE_THREAD, &after);
	r.switches = after.ru_nvcsw - before.ru_nvcsw;
	for (int i = 0; i < s->n; i++)
		pthread_join(thread[i], NULL);
	pthread_rwlock_destroy(&s->start);
	close_all(s, &r);
	return r;
}

static void measure(int run, int n, bool shared, enum measured kind)
{
	static struct storm s;
	const char *variant = shared ? "one descriptor" : "own descriptors";
	struct result r;

	s = (struct storm) { .kind = kind, .shared = shared, .n = n };
	s.writes = options.events ? options.events / n : options.writes;
	if (!s.writes)
		s.writes = 1;
	r = run_storm(&s);
	record(variant, kind, n, run, "events/ms", s.writes * n * 1e6 / r.ns);
	record(variant, kind, n, run, "ms", r.ns / 1e6);
	record(variant, kind, n, run, "waits", r.waits);
	record(variant, kind, n, run, "reads", r.reads);
	record(variant, kind, n, run, "switches", r.switches);
	if (kind == M_LIMITED) {
		record(variant, kind, n, run, "wakeups", r.wakeups);
		record(variant, kind, n, run, "bound", (shared ? 1 : n) *
		       (options.burst + (double)options.rate * r.ns / NSEC));
	}
}

static void measure_all(int run)
{
	static const enum measured kinds[] = { M_EVENTFD, M_REVENTFD, M_LIMITED, M_SHARDED };

	for (int step = 0; step < options.steps; step++)
		for (int shared = 0; shared < 2; shared++)
			for (int i = 0; i < 4; i++)
				if (have(kinds[turn(i, 3, run)]))
					measure(run, options.n[step], shared,
						kinds[turn(i, 3, run)]);
}

static void parse_steps(char *list)
{
	options.steps = 0;
	for (char *word = strtok(list, ","); word && options.steps < 16; word = strtok(NULL, ",")) {
		options.n[options.steps] = atoi(word);
		if (options.n[options.steps] < 1 || options.n[options.steps] > PRODUCERS_MAX) {
			fprintf(stderr, "stress-epoll: -p %s: 1 to %d producers\n", word,
				PRODUCERS_MAX);
			exit(2);
		}
		options.steps++;
	}
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: stress-epoll [-w WRITES | -e EVENTS] [-r RUNS] [-p N[,N]...]\n"
		"  -w  writes of each producer (1000000)\n"
		"  -e  or: events of each storm, which the producers share\n"
		"  -r  runs (5)\n"
		"  -p  how many producers (8,16,32,64,128)\n");
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "w:e:r:p:h")) != -1) {
		if (c == 'w')
			options.writes = strtoull(optarg, NULL, 0);
		else if (c == 'e')
			options.events = strtoull(optarg, NULL, 0);
		else if (c == 'r')
			options.runs = atoi(optarg);
		else if (c == 'p')
			parse_steps(optarg);
		if (c == 'h' || c == '?' || !options.writes || options.runs < 1 ||
		    !options.steps) {
			say_how(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	for (int run = 0; run < options.runs; run++)
		measure_all(run);
	return 0;
}
