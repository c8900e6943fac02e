// SPDX-License-Identifier: GPL-2.0
/*
 * An urgent consumer shares a counter with a producer that is not, and which
 * is preempted while it wakes. The consumer may have to wait for that producer,
 * but never for a third of a priority in between: on PREEMPT_RT that is what
 * the lock has to see to.
 *
 * The three have one CPU and SCHED_FIFO, so who runs when is not up to chance:
 * the producer runs only while the others sleep, and a consumer that its
 * write wakes runs at once, in the middle of that write. Nothing is timed.
 * The third, the hog, takes steps that are counted; while the consumer waits
 * it takes none, or there is an inversion.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "kselftest_harness.h"
#include "counter.h"

#define ROUNDS	20
#define STEPS	1000

enum priority { PRODUCER = 10, HOG = 20, CONSUMER = 30 };

FIXTURE(inversion) {
	int fd;
	/* An event in it starts the hog. */
	int start;
	/* An event in it lets the producer write once more. */
	int next;
	int consumer_epoll;
	int hog_epoll;
	int (*call)(int fd);
	pid_t hog;
	uint64_t steps;
	/* Its value when the write began. */
	uint64_t steps_then;
	bool done;
	/* Rounds in which the consumer waited for the producer, and for the hog. */
	int waits;
	int inversions;
};

FIXTURE_VARIANT(inversion) {
	enum kind kind;
	uint32_t rate;
};

FIXTURE_VARIANT_ADD(inversion, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(inversion, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(inversion, sharded) { .kind = SHARDED };
/* Most wakeups wait for a token, so a timer's thread delivers them. */
FIXTURE_VARIANT_ADD(inversion, limited) { .kind = OPENED, .rate = 50 };

typedef FIXTURE_DATA(inversion) inversion;

static bool preempt_rt(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

static void watch(int epoll, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events };

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

static void await(int epoll)
{
	struct epoll_event e;

	while (epoll_wait(epoll, &e, 1, -1) < 0)
		;
}

/* How often this thread gave up the CPU because it had to wait. */
static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static uint64_t steps(inversion *self)
{
	return __atomic_load_n(&self->steps, __ATOMIC_RELAXED);
}

/* A start that comes before it has looked at the one before is the same edge. */
static void *hog(void *arg)
{
	inversion *self = arg;

	__atomic_store_n(&self->hog, gettid(), __ATOMIC_RELEASE);
	for (;;) {
		await(self->hog_epoll);
		if (__atomic_load_n(&self->done, __ATOMIC_RELAXED))
			return NULL;
		for (int i = 0; i < STEPS; i++)
			__atomic_add_fetch(&self->steps, 1, __ATOMIC_RELAXED);
	}
}

static void *producer(void *arg)
{
	inversion *self = arg;

	for (int i = 0; i < ROUNDS; i++) {
		get(self->next);
		self->steps_then = steps(self);
		put(self->fd, 1);
	}
	return NULL;
}

/* Comes back from its epoll in the middle of a write, starts the hog, and calls. */
static void *calling_consumer(void *arg)
{
	inversion *self = arg;
	uint64_t before;
	long waits;

	for (int i = 0; i < ROUNDS; i++) {
		put(self->next, 1);
		await(self->consumer_epoll);
		put(self->start, 1);
		before = steps(self);
		waits = switches();
		self->call(self->fd);
		self->waits += switches() > waits;
		self->inversions += steps(self) != before;
		if (polled(self->fd) & POLLIN)
			get(self->fd);
	}
	return NULL;
}

/* Sleeps in a read; what wakes it wakes the hog as well. */
static void *reading_consumer(void *arg)
{
	inversion *self = arg;
	long waits;

	for (int i = 0; i < ROUNDS; i++) {
		put(self->next, 1);
		waits = switches();
		get(self->fd);
		/* The read slept once. */
		self->waits += switches() > waits + 1;
		self->inversions += steps(self) != self->steps_then;
	}
	return NULL;
}

static pthread_t thread(void *(*what)(void *), inversion *self, enum priority priority)
{
	struct sched_param p = { .sched_priority = priority };
	pthread_attr_t attr;
	pthread_t id = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &p);
	/* All of it is locked in memory. */
	pthread_attr_setstacksize(&attr, 1 << 17);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (pthread_create(&id, &attr, what, self))
		id = 0;
	pthread_attr_destroy(&attr);
	return id;
}

/* @awaited: what to write to so that the hog ends. */
static bool run(inversion *self, void *(*consumer)(void *), int awaited)
{
	pthread_t h, p, c;

	h = thread(hog, self, HOG);
	if (!h)
		return false;
	while (!__atomic_load_n(&self->hog, __ATOMIC_ACQUIRE))
		sched_yield();
	await_asleep(getpid(), self->hog, SYS_epoll_wait);
	p = thread(producer, self, PRODUCER);
	c = thread(consumer, self, CONSUMER);
	if (!p || !c)
		return false;
	pthread_join(c, NULL);
	pthread_join(p, NULL);
	__atomic_store_n(&self->done, true, __ATOMIC_RELAXED);
	put(awaited, 1);
	pthread_join(h, NULL);
	return true;
}

FIXTURE_SETUP(inversion)
{
	if (!preempt_rt())
		SKIP(return, "only with PREEMPT_RT is a producer preempted while it wakes");
	if (geteuid())
		SKIP(return, "real-time priorities need root");
	mlockall(MCL_CURRENT | MCL_FUTURE);
	self->fd = counter(variant->kind, 0);
	self->start = eventfd(0, 0);
	self->next = eventfd(0, 0);
	self->consumer_epoll = epoll_create1(0);
	self->hog_epoll = epoll_create1(0);
	ASSERT_GE(self->fd, 0);
	if (variant->rate)
		ASSERT_EQ(0, limit(self->fd, variant->rate, 1, 0));
}

FIXTURE_TEARDOWN(inversion)
{
	close(self->fd);
	close(self->start);
	close(self->next);
	close(self->consumer_epoll);
	close(self->hog_epoll);
}

static int call_read(int fd)
{
	return get(fd);
}

static int call_set_limit(int fd)
{
	return limit(fd, 50, 1, 0);
}

/* Whoever makes @call in the middle of a write waits, @waits times, for the producer alone. */
static void expect_no_inversion(struct __test_metadata *_metadata, inversion *self,
				int (*call)(int fd), int waits)
{
	self->call = call;
	watch(self->consumer_epoll, self->fd, EPOLLIN);
	watch(self->hog_epoll, self->start, EPOLLIN | EPOLLET);
	ASSERT_TRUE(run(self, calling_consumer, self->start));
	EXPECT_EQ(waits, self->waits);
	EXPECT_EQ(0, self->inversions);
	EXPECT_LT(0, self->steps);
}

TEST_F(inversion, a_reader_does_not_wait_for_the_hog)
{
	/* Under a limit it tells nobody of room, and needs no lock of the producer's. */
	expect_no_inversion(_metadata, self, call_read, variant->rate ? 0 : ROUNDS);
}

TEST_F(inversion, who_sets_the_limit_does_not_wait_for_the_hog)
{
	if (variant->kind == EVENTFD)
		SKIP(return, "an eventfd has no limit");
	expect_no_inversion(_metadata, self, call_set_limit, ROUNDS);
}

/*
 * The hog sees an edge for each write, whether or not the consumer took what
 * was written. An eventfd tells its pollers first: the consumer is woken only
 * when the hog sleeps again.
 */
TEST_F(inversion, a_woken_reader_does_not_wait_for_the_hog)
{
	bool hog_first = variant->kind == EVENTFD;

	watch(self->hog_epoll, self->fd, EPOLLIN | EPOLLOUT | EPOLLET);
	ASSERT_TRUE(run(self, reading_consumer, self->fd));
	EXPECT_EQ(ROUNDS, self->waits);
	EXPECT_EQ(hog_first ? ROUNDS : 0, self->inversions);
}

TEST_HARNESS_MAIN
