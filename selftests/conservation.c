// SPDX-License-Identifier: GPL-2.0
/*
 * Events written equal events read, and nobody is left asleep: N producers
 * and M consumers on one counter, a million events for each case.
 *
 * REVENTFD_SLOW=1 in the environment, for kernels full of checks, makes the
 * same events in fewer and larger writes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/epoll.h>

#include "kselftest_harness.h"
#include "counter.h"

#define EVENTS	1000000
#define MOST	8

enum how { READ, POLL, EPOLL_LEVEL, EPOLL_EDGE };

FIXTURE(crowd) {
	int fd;
};

FIXTURE_VARIANT(crowd) {
	enum kind kind;
	int producers;
	int consumers;
	enum how how;
	uint32_t rate;
	/* Room for so little at the start that producers have to wait. */
	bool full;
	bool semaphore;
};

FIXTURE_VARIANT_ADD(crowd, eventfd_read) {
	.kind = EVENTFD, .producers = 2, .consumers = 3,
};

FIXTURE_VARIANT_ADD(crowd, eventfd_epoll_edge) {
	.kind = EVENTFD, .producers = 2, .consumers = 3, .how = EPOLL_EDGE,
};

FIXTURE_VARIANT_ADD(crowd, one_to_one_read) {
	.kind = OPENED, .producers = 1, .consumers = 1,
};

FIXTURE_VARIANT_ADD(crowd, many_read) {
	.kind = OPENED, .producers = 4, .consumers = 4,
};

FIXTURE_VARIANT_ADD(crowd, many_poll) {
	.kind = OPENED, .producers = 3, .consumers = 2, .how = POLL,
};

FIXTURE_VARIANT_ADD(crowd, epoll_level) {
	.kind = OPENED, .producers = 2, .consumers = 2, .how = EPOLL_LEVEL,
};

FIXTURE_VARIANT_ADD(crowd, epoll_edge) {
	.kind = OPENED, .producers = 2, .consumers = 3, .how = EPOLL_EDGE,
};

FIXTURE_VARIANT_ADD(crowd, full_counter) {
	.kind = CREATED, .producers = 4, .consumers = 2, .full = true,
};

FIXTURE_VARIANT_ADD(crowd, semaphore) {
	.kind = CREATED, .producers = 2, .consumers = 4, .semaphore = true,
};

FIXTURE_VARIANT_ADD(crowd, sharded_read) {
	.kind = SHARDED, .producers = 4, .consumers = 2,
};

FIXTURE_VARIANT_ADD(crowd, sharded_epoll_edge) {
	.kind = SHARDED, .producers = 3, .consumers = 2, .how = EPOLL_EDGE,
};

FIXTURE_VARIANT_ADD(crowd, sharded_full_counter) {
	.kind = SHARDED, .producers = 4, .consumers = 2, .full = true,
};

FIXTURE_VARIANT_ADD(crowd, sharded_semaphore) {
	.kind = SHARDED, .producers = 2, .consumers = 4, .semaphore = true,
};

FIXTURE_VARIANT_ADD(crowd, sharded_limited_poll) {
	.kind = SHARDED, .producers = 4, .consumers = 2, .rate = 1000, .how = POLL,
};

FIXTURE_VARIANT_ADD(crowd, limited_read) {
	.kind = OPENED, .producers = 4, .consumers = 3, .rate = 1000,
};

FIXTURE_VARIANT_ADD(crowd, limited_poll) {
	.kind = OPENED, .producers = 3, .consumers = 2, .rate = 1000, .how = POLL,
};

FIXTURE_VARIANT_ADD(crowd, limited_epoll_level) {
	.kind = OPENED, .producers = 2, .consumers = 2, .rate = 1000, .how = EPOLL_LEVEL,
};

FIXTURE_VARIANT_ADD(crowd, limited_epoll_edge) {
	.kind = OPENED, .producers = 2, .consumers = 3, .rate = 1000, .how = EPOLL_EDGE,
};

FIXTURE_VARIANT_ADD(crowd, limited_hardly) {
	.kind = OPENED, .producers = 2, .consumers = 3, .rate = 1000000000,
};

/* What all threads of a case share. */
static struct {
	int fd;
	enum how how;
	/* Of a single write. */
	uint64_t largest;
	uint64_t to_write;
	uint64_t expected;
	uint64_t sum;
	bool done;
	pthread_mutex_t lock;
	pthread_cond_t all_read;
} crowd;

static void *produce(void *arg)
{
	uint64_t left = crowd.to_write, n = 0;

	while (left) {
		n = n % crowd.largest + 1;
		if (n > left)
			n = left;
		if (put(crowd.fd, n) != 8)
			abort();
		left -= n;
	}
	return NULL;
}

static void await_readiness(int epoll)
{
	struct pollfd p = { .fd = crowd.fd, .events = POLLIN };
	struct epoll_event e;

	if (crowd.how == POLL)
		poll(&p, 1, -1);
	else if (crowd.how != READ)
		epoll_wait(epoll, &e, 1, -1);
}

static void add_up(uint64_t n)
{
	if (__atomic_add_fetch(&crowd.sum, n, __ATOMIC_ACQ_REL) != crowd.expected)
		return;
	pthread_mutex_lock(&crowd.lock);
	pthread_cond_signal(&crowd.all_read);
	pthread_mutex_unlock(&crowd.lock);
}

static void *consume(void *arg)
{
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(0);
	int64_t n;

	if (crowd.how == EPOLL_EDGE)
		e.events |= EPOLLET;
	epoll_ctl(epoll, EPOLL_CTL_ADD, crowd.fd, &e);
	while (!__atomic_load_n(&crowd.done, __ATOMIC_ACQUIRE)) {
		await_readiness(epoll);
		/* An edge promises nothing about what has been there before it. */
		do {
			n = get(crowd.fd);
			if (n == -EAGAIN)
				break;
			if (__atomic_load_n(&crowd.done, __ATOMIC_ACQUIRE))
				break;
			add_up(n);
		} while (crowd.how == EPOLL_EDGE);
	}
	/* The call that ends this thread ends the next. */
	put(crowd.fd, 1);
	close(epoll);
	return NULL;
}

FIXTURE_SETUP(crowd)
{
	int flags = variant->semaphore ? EFD_SEMAPHORE : 0;

	self->fd = counter(variant->kind, flags);
	ASSERT_GE(self->fd, 0);
	if (variant->rate)
		ASSERT_EQ(0, limit(self->fd, variant->rate, 2, 0));
}

FIXTURE_TEARDOWN(crowd)
{
	close(self->fd);
}

TEST_F_TIMEOUT(crowd, all_is_read_and_nobody_is_stuck, 300)
{
	uint64_t start = variant->full ? COUNT_MAX - 5 : 0;
	pthread_t producers[MOST], consumers[MOST];
	bool slow = getenv("REVENTFD_SLOW");
	uint64_t begun = now_ns();
	struct reventfd_stats s;

	crowd.fd = self->fd;
	crowd.how = variant->how;
	crowd.largest = slow ? 499 : 9;
	crowd.to_write = EVENTS / variant->producers;
	/* Each of a semaphore's events is a read. */
	if (variant->semaphore)
		crowd.to_write /= slow ? 500 : 5;
	crowd.expected = start + crowd.to_write * variant->producers;
	pthread_mutex_init(&crowd.lock, NULL);
	pthread_cond_init(&crowd.all_read, NULL);
	if (start)
		ASSERT_EQ(8, put(self->fd, start));
	/* So that a consumer which lost the race to another does not wait. */
	if (variant->how == EPOLL_LEVEL || variant->how == EPOLL_EDGE)
		fcntl(self->fd, F_SETFL, O_NONBLOCK);

	for (int i = 0; i < variant->producers; i++)
		ASSERT_EQ(0, pthread_create(&producers[i], NULL, produce, NULL));
	if (variant->full)
		for (int i = 0; i < 1000; i++)
			sched_yield();
	for (int i = 0; i < variant->consumers; i++)
		ASSERT_EQ(0, pthread_create(&consumers[i], NULL, consume, NULL));

	pthread_mutex_lock(&crowd.lock);
	while (__atomic_load_n(&crowd.sum, __ATOMIC_ACQUIRE) != crowd.expected)
		pthread_cond_wait(&crowd.all_read, &crowd.lock);
	pthread_mutex_unlock(&crowd.lock);
	for (int i = 0; i < variant->producers; i++)
		pthread_join(producers[i], NULL);
	EXPECT_EQ(crowd.expected, crowd.sum);

	/* Whatever is read from here on ends threads. */
	__atomic_store_n(&crowd.done, true, __ATOMIC_RELEASE);
	put(self->fd, 1);
	for (int i = 0; i < variant->consumers; i++)
		pthread_join(consumers[i], NULL);

	if (variant->rate) {
		s = stats(self->fd);
		EXPECT_LE(s.wakeups, 2 + (now_ns() - begun) * variant->rate / NSEC + 1);
	}
}

TEST_HARNESS_MAIN
