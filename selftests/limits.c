// SPDX-License-Identifier: GPL-2.0
/*
 * What the limit promises: the bound, the wakeup that comes, readiness that
 * follows the wakeups; and, each by name, what an earlier proposal for such a
 * limit got wrong.
 *
 * No test fails because the machine is slow: a bound is checked against the
 * time that did pass, and that something has not come yet only as long as the
 * clock says that it could not.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#include "kselftest_harness.h"
#include "counter.h"

FIXTURE(limited) {
	int fd;
	int nb;
	uint64_t start;
};

/* Both are opened, limited to one wakeup a second, and their token is spent. */
FIXTURE_SETUP(limited)
{
	self->fd = open("/dev/reventfd", O_RDWR);
	self->nb = open("/dev/reventfd", O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, limit(self->fd, 1, 1, 0));
	ASSERT_EQ(0, limit(self->nb, 1, 1, 0));
	self->start = now_ns();
	ASSERT_EQ(8, put(self->fd, 1));
	ASSERT_EQ(8, put(self->nb, 1));
	ASSERT_EQ(POLLIN | POLLOUT, polled(self->fd));
	ASSERT_EQ(POLLIN | POLLOUT, polled(self->nb));
	ASSERT_EQ(1, get(self->fd));
	ASSERT_EQ(1, get(self->nb));
}

FIXTURE_TEARDOWN(limited)
{
	close(self->fd);
	close(self->nb);
}

/* Whether the next token, one second after the first, cannot exist yet. */
static bool too_early(uint64_t start)
{
	return now_ns() < start + NSEC;
}

/* @value must be @expected, unless it was looked at too late to tell. */
#define EXPECT_WHILE_EARLY(expected, value) do {			\
	typeof(value) seen_ = (value);					\
	if (too_early(self->start))					\
		EXPECT_EQ(expected, seen_);				\
} while (0)

static int blocking_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, -1) == 1 ? p.revents : -1;
}

TEST_F(limited, poll_waits_for_the_token)
{
	uint64_t deferred;

	put(self->fd, 1);
	EXPECT_WHILE_EARLY(POLLOUT, polled(self->fd));
	EXPECT_WHILE_EARLY(1, info(self->fd, "reventfd-owed"));
	deferred = too_early(self->start);
	EXPECT_EQ(POLLIN, blocking_poll(self->fd));
	EXPECT_FALSE(too_early(self->start));
	EXPECT_LE(deferred, stats(self->fd).deferred);
	EXPECT_EQ(stats(self->fd).deferred, stats(self->fd).timer_fires);
	EXPECT_EQ(2, stats(self->fd).wakeups);
	EXPECT_EQ(1, get(self->fd));
	EXPECT_EQ(POLLOUT, polled(self->fd));
}

TEST_F(limited, select_waits_for_the_token)
{
	struct timeval none = { 0 };
	fd_set in;

	put(self->fd, 1);
	FD_ZERO(&in);
	FD_SET(self->fd, &in);
	EXPECT_WHILE_EARLY(0, select(self->fd + 1, &in, NULL, NULL, &none));
	FD_SET(self->fd, &in);
	EXPECT_EQ(1, select(self->fd + 1, &in, NULL, NULL, NULL));
	EXPECT_FALSE(too_early(self->start));
}

TEST_F(limited, blocking_read_waits_for_the_token)
{
	put(self->fd, 5);
	EXPECT_EQ(5, get(self->fd));
	EXPECT_FALSE(too_early(self->start));
}

TEST_F(limited, nonblocking_read_tells_the_truth)
{
	put(self->nb, 5);
	EXPECT_WHILE_EARLY(POLLOUT, polled(self->nb));
	EXPECT_EQ(5, get(self->nb));
	EXPECT_EQ(-EAGAIN, get(self->nb));
}

TEST_F(limited, nowait_on_a_blocking_descriptor_is_gated)
{
	uint64_t n = 0;
	struct iovec v = { &n, 8 };

	put(self->fd, 5);
	EXPECT_WHILE_EARLY(-1, preadv2(self->fd, &v, 1, -1, RWF_NOWAIT));
	if (!n) {
		EXPECT_EQ(POLLIN, blocking_poll(self->fd));
		EXPECT_EQ(8, preadv2(self->fd, &v, 1, -1, RWF_NOWAIT));
	}
	EXPECT_EQ(5, n);
}

TEST_F(limited, epoll_level_waits_for_the_token)
{
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &e);
	put(self->fd, 1);
	EXPECT_WHILE_EARLY(0, epoll_wait(epoll, &e, 1, 0));
	EXPECT_EQ(1, epoll_wait(epoll, &e, 1, -1));
	EXPECT_FALSE(too_early(self->start));
	EXPECT_EQ(1, epoll_wait(epoll, &e, 1, 0));
	get(self->fd);
	EXPECT_EQ(0, epoll_wait(epoll, &e, 1, 0));
	close(epoll);
}

/* An event loop that never reads is owed an edge for what came after the last. */
TEST_F(limited, epoll_edge_comes_without_a_read)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(0);

	epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &e);
	put(self->fd, 1);
	EXPECT_EQ(1, epoll_wait(epoll, &e, 1, -1));
	EXPECT_FALSE(too_early(self->start));
	/* Still in the counter; the next write is an event of its own. */
	put(self->fd, 1);
	EXPECT_EQ(1, epoll_wait(epoll, &e, 1, -1));
	EXPECT_GE(now_ns(), self->start + 2 * NSEC);
	EXPECT_EQ(2, get(self->fd));
	close(epoll);
}

TEST_F(limited, wake_only_leaves_readiness_alone)
{
	limit(self->fd, 1, 1, REVENTFD_LIMIT_WAKE_ONLY);
	put(self->fd, 1);
	put(self->fd, 1);
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	EXPECT_EQ(2, get(self->fd));
	put(self->fd, 1);
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	EXPECT_EQ(1, get(self->fd));
}

TEST_F(limited, write_of_zero_is_no_event_for_an_empty_counter)
{
	put(self->fd, 0);
	EXPECT_EQ(0, info(self->fd, "reventfd-owed"));
	EXPECT_EQ(1, stats(self->fd).wakeups);
}

/* The defects, one by one. */

TEST_F(limited, reconfiguring_delivers_what_is_owed)
{
	put(self->fd, 1);
	EXPECT_WHILE_EARLY(POLLOUT, polled(self->fd));
	/* A change to the same limit; then the new bucket's token is gone, too. */
	limit(self->fd, 1, 1, 0);
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	get(self->fd);
	self->start = now_ns();
	limit(self->fd, 1, 1, 0);
	put(self->fd, 1);
	get(self->fd);
	put(self->fd, 1);
	EXPECT_WHILE_EARLY(POLLOUT, polled(self->fd));
	limit(self->fd, 0, 0, 0);
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	EXPECT_EQ(0, info(self->fd, "reventfd-owed"));
}

static void *poll_thread(void *arg)
{
	int *fd_tid = arg;

	__atomic_store_n(&fd_tid[1], gettid(), __ATOMIC_RELEASE);
	return (void *)(long)blocking_poll(fd_tid[0]);
}

TEST_F(limited, lifting_the_limit_wakes_the_sleeper)
{
	int fd_tid[2] = { self->fd, 0 };
	pthread_t thread;
	void *ret;

	put(self->fd, 1);
	pthread_create(&thread, NULL, poll_thread, fd_tid);
	while (!__atomic_load_n(&fd_tid[1], __ATOMIC_ACQUIRE))
		sched_yield();
	if (too_early(self->start))
		await_asleep(getpid(), fd_tid[1], SYS_poll);
	limit(self->fd, 0, 0, 0);
	pthread_join(thread, &ret);
	EXPECT_EQ(POLLIN, (long)ret);
	EXPECT_WHILE_EARLY(0, stats(self->fd).timer_fires);
}

TEST_F(limited, reconfiguring_an_empty_counter_wakes_nobody)
{
	uint64_t before = stats(self->fd).wakeups;

	for (int i = 0; i < 100; i++)
		limit(self->fd, 1 + i % 2, 1, 0);
	EXPECT_EQ(before, stats(self->fd).wakeups);
	EXPECT_EQ(POLLOUT, polled(self->fd));
}

/* Wakeups that were granted since @start keep the bound for the time passed. */
#define EXPECT_BOUND(fd, rate, burst, start)				\
	EXPECT_LE(stats(fd).wakeups, (burst) + (now_ns() - (start)) * (rate) / NSEC + 1)

static void let_time_pass(uint64_t ns)
{
	struct itimerspec t = { .it_value = { ns / NSEC, ns % NSEC } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t n;

	timerfd_settime(fd, 0, &t, NULL);
	if (read(fd, &n, 8) != 8)
		abort();
	close(fd);
}

TEST(idle_time_fills_no_more_than_the_burst)
{
	int fd = open("/dev/reventfd", O_RDWR | O_NONBLOCK);
	uint64_t start, before;

	limit(fd, 100, 3, 0);
	let_time_pass(NSEC / 2);
	start = now_ns();
	before = stats(fd).wakeups;
	for (int i = 0; i < 1000; i++) {
		put(fd, 1);
		get(fd);
	}
	/* 50 tokens went by while it was idle; 3 of them were kept. */
	EXPECT_GE(stats(fd).wakeups - before, 3);
	EXPECT_BOUND(fd, 100, 3, start);
	close(fd);
}

TEST(a_writer_faster_than_the_rate_gets_its_tokens)
{
	int fd = open("/dev/reventfd", O_RDWR | O_NONBLOCK);
	uint64_t start = now_ns();

	limit(fd, 1000, 1, 0);
	while (stats(fd).wakeups < 20)
		put(fd, 1);
	EXPECT_GE(now_ns() - start, 19 * NSEC / 1000);
	EXPECT_BOUND(fd, 1000, 1, start);
	close(fd);
}

TEST(the_highest_rate_and_the_largest_burst)
{
	int fd = open("/dev/reventfd", O_RDWR | O_NONBLOCK);

	limit(fd, REVENTFD_RATE_MAX, UINT32_MAX, 0);
	for (int i = 0; i < 1000; i++) {
		put(fd, 1);
		ASSERT_EQ(POLLIN | POLLOUT, polled(fd));
		ASSERT_EQ(1, get(fd));
	}
	EXPECT_EQ(1000, stats(fd).wakeups);
	EXPECT_EQ(0, stats(fd).deferred);
	limit(fd, 1, UINT32_MAX, 0);
	for (int i = 0; i < 1000; i++) {
		put(fd, 1);
		ASSERT_EQ(POLLIN | POLLOUT, polled(fd));
		ASSERT_EQ(1, get(fd));
	}
	EXPECT_EQ(2000, stats(fd).wakeups);
	close(fd);
}

TEST(an_armed_timer_does_not_outlive_the_counter)
{
	for (int i = 0; i < 2000; i++) {
		int fd = open("/dev/reventfd", O_RDWR);

		limit(fd, 1000, 1, 0);
		put(fd, 1);
		put(fd, 1);
		if (i % 3 == 0)
			limit(fd, 1000 + i, 1, 0);
		put(fd, 1);
		close(fd);
	}
}

struct storm {
	int fd;
	long writes;
	bool edge;
};

static void *publisher(void *arg)
{
	struct storm *s = arg;

	for (long i = 0; i < s->writes; i++)
		if (put(s->fd, 1) != 8)
			abort();
	return NULL;
}

#define STORM_RATE 200
#define STORM_BURST 2

/* The busy subscriber: polls, reads, and would never sleep without the gate. */
TEST(poll_and_read_loop_keeps_the_bound)
{
	struct storm s = { .fd = open("/dev/reventfd", O_RDWR), .writes = 100000 };
	uint64_t start = now_ns(), polls = 0;
	pthread_t thread;
	long sum = 0;

	limit(s.fd, STORM_RATE, STORM_BURST, 0);
	pthread_create(&thread, NULL, publisher, &s);
	while (sum < s.writes) {
		ASSERT_EQ(POLLIN, blocking_poll(s.fd));
		polls++;
		sum += get(s.fd);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(s.writes, sum);
	EXPECT_BOUND(s.fd, STORM_RATE, STORM_BURST, start);
	/* One that came early, after a race, used a grant that was paid for. */
	EXPECT_LE(polls, stats(s.fd).wakeups);
	close(s.fd);
}

TEST(blocking_read_loop_keeps_the_bound)
{
	struct storm s = { .fd = open("/dev/reventfd", O_RDWR), .writes = 100000 };
	uint64_t start = now_ns();
	pthread_t thread;
	long sum = 0;

	limit(s.fd, STORM_RATE, STORM_BURST, 0);
	pthread_create(&thread, NULL, publisher, &s);
	while (sum < s.writes)
		sum += get(s.fd);
	pthread_join(thread, NULL);
	EXPECT_EQ(s.writes, sum);
	EXPECT_BOUND(s.fd, STORM_RATE, STORM_BURST, start);
	close(s.fd);
}

/* An edge-triggered loop that never reads sees the last write, too. */
TEST(edge_triggered_loop_keeps_the_bound_and_sees_the_last_write)
{
	struct storm s = { .fd = open("/dev/reventfd", O_RDWR), .writes = 100000 };
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	uint64_t start = now_ns(), edges = 0;
	int epoll = epoll_create1(0);
	pthread_t thread;

	limit(s.fd, STORM_RATE, STORM_BURST, 0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, s.fd, &e);
	pthread_create(&thread, NULL, publisher, &s);
	while (info(s.fd, "eventfd-count") < s.writes || info(s.fd, "reventfd-owed")) {
		ASSERT_EQ(1, epoll_wait(epoll, &e, 1, -1));
		edges++;
	}
	pthread_join(thread, NULL);
	EXPECT_LE(edges, stats(s.fd).wakeups);
	EXPECT_BOUND(s.fd, STORM_RATE, STORM_BURST, start);
	close(epoll);
	close(s.fd);
}

TEST_HARNESS_MAIN
