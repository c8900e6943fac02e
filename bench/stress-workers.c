// SPDX-License-Identifier: GPL-2.0
/*
 * One producer, many workers: one thread writes single events to a semaphore
 * as fast as it can, n threads wait for them and take one each.
 *
 *	stress-workers [-e EVENTS] [-r RUNS] [-p N[,N]...]
 *
 * The workers wait in a blocking read, or each in an epoll of its own, whose
 * reads do not block. In the paced storms the producer writes an event only
 * when the one before has been taken, so that it always finds the workers
 * asleep; what each write sets in motion can then be counted. The clock runs
 * from the start flag to the last event.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "bench.h"

#define WORKERS_MAX 1024

const char *bench_name = "stress-workers";

static struct {
	uint64_t events;
	int runs;
	int n[16];
	int steps;
} options = { 24000, 5, { 8, 32, 128 }, 3 };

enum how { READ, EPOLL };

struct storm {
	enum how how;
	bool paced;
	int n;
	uint64_t events;
	int fd;
	pthread_rwlock_t start;
	/* Atomics. */
	uint64_t taken;
	uint64_t asked;		/* reads that were tried */
	uint64_t done_ns;
	uint32_t round;		/* a futex for the paced producer */
};

static void futex(uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

/* Returns whether there is more to come. */
static bool took_one(struct storm *s)
{
	uint64_t taken = __atomic_add_fetch(&s->taken, 1, __ATOMIC_SEQ_CST);

	if (taken == s->events)
		__atomic_store_n(&s->done_ns, now_ns(), __ATOMIC_SEQ_CST);
	if (s->paced || taken == s->events) {
		__atomic_add_fetch(&s->round, 1, __ATOMIC_SEQ_CST);
		futex(&s->round, FUTEX_WAKE_PRIVATE, 1);
	}
	return taken < s->events;
}

static void await_round(struct storm *s, uint32_t round)
{
	uint32_t now;

	while ((now = __atomic_load_n(&s->round, __ATOMIC_SEQ_CST)) < round)
		futex(&s->round, FUTEX_WAIT_PRIVATE, now);
}

/* The events past the last, one for each worker, tell it to end. */
static void *work(void *arg)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct storm *s = arg;
	int epoll = -1;
	int64_t n;

	if (s->how == EPOLL) {
		epoll = epoll_create1(0);
		if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, s->fd, &e))
			fail("epoll");
	}
	pthread_rwlock_rdlock(&s->start);
	pthread_rwlock_unlock(&s->start);
	for (;;) {
		if (epoll >= 0 && epoll_wait(epoll, &e, 1, -1) != 1)
			fail("epoll_wait");
		n = get(s->fd);
		__atomic_add_fetch(&s->asked, 1, __ATOMIC_RELAXED);
		if (n == -EAGAIN)
			continue;
		if (n != 1)
			fail("read");
		if (__atomic_load_n(&s->taken, __ATOMIC_SEQ_CST) >= s->events || !took_one(s))
			break;
	}
	if (epoll >= 0)
		close(epoll);
	return NULL;
}

static void produce(struct storm *s)
{
	for (uint64_t i = 0; i < s->events; i++) {
		if (put(s->fd, 1) != 8)
			fail("write");
		if (s->paced)
			await_round(s, i + 1);
	}
	await_round(s, s->paced ? s->events : 1);
}

static uint64_t switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static int make_semaphore(enum measured kind)
{
	if (kind == M_REVENTFD)
		kind = M_CREATED;
	return make(kind, EFD_SEMAPHORE);
}

static void run_storm(struct storm *s, const char *variant, enum measured kind, int run)
{
	static pthread_t thread[WORKERS_MAX];
	uint64_t start, switched;

	s->fd = make_semaphore(kind);
	if (s->how == EPOLL)
		fcntl(s->fd, F_SETFL, O_NONBLOCK);
	pthread_rwlock_init(&s->start, NULL);
	pthread_rwlock_wrlock(&s->start);
	for (int i = 0; i < s->n; i++) {
		errno = pthread_create(&thread[i], NULL, work, s);
		if (errno)
			fail("pthread_create");
	}
	switched = switches();
	start = now_ns();
	pthread_rwlock_unlock(&s->start);
	produce(s);
	switched = switches() - switched;
	record(variant, kind, s->n, run, "events/ms", s->events * 1e6 / (s->done_ns - start));
	record(variant, kind, s->n, run, "switches/event", (double)switched / s->events);
	record(variant, kind, s->n, run, "reads/event", (double)s->asked / s->events);
	put(s->fd, s->n);
	for (int i = 0; i < s->n; i++)
		pthread_join(thread[i], NULL);
	close(s->fd);
}

static void measure_all(int run)
{
	static const enum measured kinds[] = { M_EVENTFD, M_REVENTFD };
	static const struct {
		const char *name;
		enum how how;
		bool paced;
	} variants[] = {
		{ "blocking read", READ, false }, { "blocking read, paced", READ, true },
		{ "epoll", EPOLL, false }, { "epoll, paced", EPOLL, true },
	};
	struct storm s;

	for (int step = 0; step < options.steps; step++)
		for (size_t v = 0; v < ARRAY_SIZE(variants); v++)
			for (int i = 0; i < 2; i++) {
				s = (struct storm) { .how = variants[v].how,
					.paced = variants[v].paced, .n = options.n[step] };
				/* Each event wakes up to n workers. */
				s.events = options.events / s.n ? options.events / s.n : 1;
				run_storm(&s, variants[v].name, kinds[turn(i, 1, run)], run);
			}
}

static void parse_steps(char *list)
{
	options.steps = 0;
	for (char *word = strtok(list, ","); word && options.steps < 16; word = strtok(NULL, ",")) {
		options.n[options.steps] = atoi(word);
		if (options.n[options.steps] < 1 || options.n[options.steps] > WORKERS_MAX) {
			fprintf(stderr, "stress-workers: -p %s: 1 to %d workers\n", word,
				WORKERS_MAX);
			exit(2);
		}
		options.steps++;
	}
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: stress-workers [-e EVENTS] [-r RUNS] [-p N[,N]...]\n"
		"  -e  events of each storm, divided by the workers (24000)\n"
		"  -r  runs (5)\n"
		"  -p  how many workers (8,32,128)\n");
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "e:r:p:h")) != -1) {
		if (c == 'e')
			options.events = strtoull(optarg, NULL, 0);
		else if (c == 'r')
			options.runs = atoi(optarg);
		else if (c == 'p')
			parse_steps(optarg);
		if (c == 'h' || c == '?' || !options.events || options.runs < 1 ||
		    !options.steps) {
			say_how(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	for (int run = 0; run < options.runs; run++)
		measure_all(run);
	return 0;
}
