// SPDX-License-Identifier: GPL-2.0
/*
 * Events without end: counters of each kind, each with its producers and its
 * consumers, while limits are set, changed and lifted under them.
 *
 *	endless [-n EVENTS] [-w LARGEST] [-r ROUNDS] [-s SEED]
 *
 * EVENTS is their sum, in writes of 1 to LARGEST. A later write, or a change of
 * the limit, would wake whoever an earlier one has left asleep. So the events
 * come in rounds, and a round is over when all of it was read with no help from
 * outside. If nothing moves any more, it is said which counter is stuck.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "counter.h"
#include "fuzz.h"

#define MOST	4
#define PATIENCE 240	/* seconds without a single event */
/* What a producer adds to lane.turn at the end of its part. */
#define PART_ENDS 0x100000000ULL

enum how { READ, POLL, EDGE };

struct lane {
	const char *name;
	enum kind kind;
	int flags;
	int producers;
	int consumers;
	enum how how;
	/* Some writes leave room for nobody else's. */
	bool huge;
	/* So many times fewer events: each of a semaphore's is a read. */
	int fewer;

	/* The rest is made while it runs. */
	int fd;
	int turn;	/* an eventfd: time for another limit; or the end of a part */
	pthread_t thread;
	pthread_barrier_t start;
	pthread_mutex_t lock;
	pthread_cond_t all_read;
	uint64_t expected;
	uint64_t taken;
	uint64_t writes;
	uint64_t changes;
	bool done;
};

static struct lane lanes[] = {
	{ "readers of an open device", OPENED, 0, 2, 2, READ },
	{ "pollers of an open device, often full", OPENED, 0, 2, 2, POLL, .huge = true },
	{ "edge-triggered, made by command", CREATED, O_NONBLOCK, 2, 2, EDGE },
	{ "a reader of shards, often full", SHARDED, 0, 3, 1, READ, .huge = true },
	{ "edge-triggered, shards", SHARDED, O_NONBLOCK, 3, 2, EDGE },
	{ "readers of a semaphore", CREATED, EFD_SEMAPHORE, 2, 3, READ, .fewer = 50 },
	{ "pollers of a semaphore with shards", SHARDED, EFD_SEMAPHORE, 2, 2, POLL, .fewer = 50 },
};

#define LANES	(sizeof(lanes) / sizeof(*lanes))

static uint64_t events = 10000000, largest = 19, rounds = 100, seed = 1;
static atomic_int ended;

static uint64_t load(uint64_t *from)
{
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

static void add(uint64_t *to, uint64_t n)
{
	__atomic_add_fetch(to, n, __ATOMIC_ACQ_REL);
}

/* What one producer writes in a round. */
static uint64_t part_of(const struct lane *l)
{
	return events / LANES / (l->fewer ? l->fewer : 1) / rounds / l->producers;
}

/*
 * In some rounds, and only in the first half of them, so that there are ends
 * which nothing but the last write has to see to.
 */
static bool is_turn(struct dice *d, uint64_t round, uint64_t left, uint64_t part)
{
	return round % 4 && left > part / 2 && !below(d, 100);
}

static void *produce(void *arg)
{
	static uint64_t number;
	struct dice d = { seed + __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED) * 1000 };
	struct lane *l = arg;
	uint64_t part = part_of(l), n;

	for (uint64_t round = 0; round < rounds; round++) {
		pthread_barrier_wait(&l->start);
		for (uint64_t left = part; left; left -= n) {
			n = 1 + below(&d, largest);
			if (n > left)
				n = left;
			if (l->huge && !below(&d, 64)) {
				/* Modulo 2^64, as everything is added up here. */
				add(&l->expected, COUNT_MAX - 3);
				add(&l->writes, 1);
				if (put(l->fd, COUNT_MAX - 3) != 8)
					abort();
			}
			if (put(l->fd, n) != 8)
				abort();
			add(&l->writes, 1);
			if (is_turn(&d, round, left, part))
				put(l->turn, 1);
		}
		put(l->turn, PART_ENDS);
	}
	return NULL;
}

static void take(struct lane *l, uint64_t n)
{
	uint64_t taken = __atomic_add_fetch(&l->taken, n, __ATOMIC_ACQ_REL);

	if (taken != load(&l->expected))
		return;
	pthread_mutex_lock(&l->lock);
	pthread_cond_signal(&l->all_read);
	pthread_mutex_unlock(&l->lock);
}

static void *consume(void *arg)
{
	struct lane *l = arg;
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	int epoll = epoll_create1(0);
	int64_t n;

	epoll_ctl(epoll, EPOLL_CTL_ADD, l->fd, &e);
	while (!__atomic_load_n(&l->done, __ATOMIC_ACQUIRE)) {
		if (l->how == POLL)
			poll(&p, 1, -1);
		else if (l->how == EDGE)
			epoll_wait(epoll, &e, 1, -1);
		/* An edge promises nothing about what has been there before it. */
		do {
			n = get(l->fd);
			if (n == -EAGAIN || __atomic_load_n(&l->done, __ATOMIC_ACQUIRE))
				break;
			take(l, n);
		} while (l->how == EDGE);
	}
	/* The event that ends this thread ends the next. */
	put(l->fd, 1);
	close(epoll);
	return NULL;
}

/* From a wakeup in a millisecond to one in two nanoseconds, or no limit. */
static void change_limit(struct lane *l, struct dice *d)
{
	uint32_t rate = below(d, 4) ? 1000U << below(d, 20) : 0;

	if (!limit(l->fd, rate, 1 + below(d, 8), below(d, 3) ? 0 : REVENTFD_LIMIT_WAKE_ONLY))
		l->changes++;
}

static void round_of(struct lane *l, struct dice *d)
{
	int working = l->producers;
	int64_t turns;

	add(&l->expected, part_of(l) * l->producers);
	pthread_barrier_wait(&l->start);
	while (working) {
		turns = get(l->turn);
		working -= turns / PART_ENDS;
		if (turns % PART_ENDS)
			change_limit(l, d);
	}
	pthread_mutex_lock(&l->lock);
	while (load(&l->taken) != load(&l->expected))
		pthread_cond_wait(&l->all_read, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

/* One of them for each lane: begins its rounds, changes its limit, and sees each end. */
static void *conduct(void *arg)
{
	struct lane *l = arg;
	struct dice d = { seed + (l - lanes) };
	pthread_t producers[MOST], consumers[MOST];

	for (int i = 0; i < l->producers; i++)
		pthread_create(&producers[i], NULL, produce, l);
	for (int i = 0; i < l->consumers; i++)
		pthread_create(&consumers[i], NULL, consume, l);
	for (uint64_t round = 0; round < rounds; round++)
		round_of(l, &d);
	for (int i = 0; i < l->producers; i++)
		pthread_join(producers[i], NULL);

	/* Whatever is read from here on ends threads. */
	__atomic_store_n(&l->done, true, __ATOMIC_RELEASE);
	limit(l->fd, 0, 0, 0);
	put(l->fd, 1);
	for (int i = 0; i < l->consumers; i++)
		pthread_join(consumers[i], NULL);
	atomic_fetch_add(&ended, 1);
	return NULL;
}

static void begin(struct lane *l)
{
	l->fd = counter(l->kind, l->flags);
	l->turn = eventfd(0, 0);
	pthread_barrier_init(&l->start, NULL, l->producers + 1);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->all_read, NULL);
	if (l->fd < 0 || l->turn < 0 || pthread_create(&l->thread, NULL, conduct, l))
		abort();
}

/* What is known of each counter that has not been emptied. */
static void describe_stuck(void)
{
	for (struct lane *l = lanes; l < lanes + LANES; l++) {
		if (load(&l->taken) == load(&l->expected))
			continue;
		printf("# %s: %llu to come, %#llx in the counter, owed %lld, ready %lld\n",
		       l->name, (unsigned long long)(l->expected - l->taken),
		       info(l->fd, "eventfd-count"), info(l->fd, "reventfd-owed"),
		       info(l->fd, "reventfd-ready"));
	}
}

/* Comes back when all lanes have ended, or nothing has moved for too long. */
static bool watch(void)
{
	struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	int tick = timerfd_create(CLOCK_MONOTONIC, 0), idle = 0;
	uint64_t before = 0, sum;

	timerfd_settime(tick, 0, &second, NULL);
	while (atomic_load(&ended) < (int)LANES) {
		sum = 0;
		for (struct lane *l = lanes; l < lanes + LANES; l++)
			sum += load(&l->taken) + load(&l->writes);
		idle = sum == before ? idle + 1 : 0;
		before = sum;
		if (idle == PATIENCE) {
			describe_stuck();
			return false;
		}
		get(tick);
	}
	close(tick);
	return true;
}

static bool examine(const struct lane *l)
{
	struct reventfd_stats s = stats(l->fd);
	/* Those that ended the threads: the first, and one for each consumer. */
	uint64_t writes = l->writes + 1 + l->consumers;
	bool semaphore = l->flags & EFD_SEMAPHORE;

	printf("# %s: %llu writes, %llu reads, %llu wakeups, %llu deferred, %llu limits\n",
	       l->name, (unsigned long long)s.writes, (unsigned long long)s.reads,
	       (unsigned long long)s.wakeups, (unsigned long long)s.deferred,
	       (unsigned long long)l->changes);
	return l->taken == l->expected && s.writes == writes && semaphore == !l->changes &&
	       get(l->fd) > 0;
}

static void options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:w:r:s:")) != -1) {
		if (c == 'n')
			events = strtoull(optarg, NULL, 0);
		else if (c == 'w')
			largest = strtoull(optarg, NULL, 0);
		else if (c == 'r')
			rounds = strtoull(optarg, NULL, 0);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			largest = 0;
	}
	if (!largest || !rounds || events / rounds < 1000 * LANES) {
		fprintf(stderr, "usage: endless [-n EVENTS] [-w LARGEST] [-r ROUNDS] [-s SEED]\n"
			"  EVENTS are added, 1 to LARGEST at once, in ROUNDS of at least %zu\n",
			1000 * LANES);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int failed = 0;
	bool good;

	if (getenv("REVENTFD_SLOW"))
		largest = 99;
	if (getenv("REVENTFD_LONG")) {
		events = 1000000000;
		largest = 99;
		rounds = 5000;
	}
	options(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n# seed %llu\n", LANES, (unsigned long long)seed);
	for (struct lane *l = lanes; l < lanes + LANES; l++)
		begin(l);
	if (!watch())
		return 1;
	for (struct lane *l = lanes; l < lanes + LANES; l++) {
		pthread_join(l->thread, NULL);
		good = examine(l);
		failed += !good;
		printf("%sok %zu %s\n", good ? "" : "not ", l - lanes + 1, l->name);
	}
	return failed != 0;
}
