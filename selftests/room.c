// SPDX-License-Identifier: GPL-2.0
/*
 * Who waits for room with edges, under a limit: told of it whenever there was
 * none for it, and otherwise not, so that nobody is woken by its own reads.
 * Without a limit each read is an edge, as eventfd's: behaviour.c.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "kselftest_harness.h"
#include "counter.h"

FIXTURE(both_ways) {
	int fd;
	int epoll;
};

FIXTURE_VARIANT(both_ways) {
	enum kind kind;
	uint32_t flags;
};

FIXTURE_VARIANT_ADD(both_ways, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(both_ways, sharded) { .kind = SHARDED };
FIXTURE_VARIANT_ADD(both_ways, wake_only) {
	.kind = CREATED, .flags = REVENTFD_LIMIT_WAKE_ONLY,
};

/* Watched for both directions with edges. */
FIXTURE_SETUP(both_ways)
{
	self->fd = counter(variant->kind, EFD_NONBLOCK);
	self->epoll = edge_triggered(self->fd);
	ASSERT_EQ(EPOLLOUT, edge(self->epoll));
}

FIXTURE_TEARDOWN(both_ways)
{
	close(self->epoll);
	close(self->fd);
}

/* With a token there, so that the wakeup comes now, and none later. */
#define put_with_token(n) do {							\
	ASSERT_EQ(0, limit(self->fd, 1, 1, variant->flags));			\
	ASSERT_EQ(8, put(self->fd, n));						\
	EXPECT_TRUE(edge(self->epoll) & EPOLLIN);				\
} while (0)

/* Else each read would wake its own reader, who finds more, and so on. */
TEST_F(both_ways, a_read_that_nobody_waits_for_is_no_edge)
{
	for (int i = 0; i < 100; i++) {
		put_with_token(1);
		EXPECT_EQ(1, get(self->fd));
		EXPECT_EQ(0, edge(self->epoll));
	}
	put_with_token(1);
	ASSERT_EQ(0, limit(self->fd, 0, 0, 0));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, edge(self->epoll));
	EXPECT_EQ(1, get(self->fd));
	EXPECT_EQ(EPOLLOUT, edge(self->epoll));
}

TEST_F(both_ways, who_saw_no_room_is_told_of_room)
{
	for (int i = 0; i < 100; i++) {
		put_with_token(COUNT_MAX);
		EXPECT_FALSE(polled(self->fd) & POLLOUT);
		EXPECT_EQ(COUNT_MAX, (uint64_t)get(self->fd));
		EXPECT_EQ(EPOLLOUT, edge(self->epoll));
		EXPECT_EQ(0, edge(self->epoll));
	}
}

TEST_F(both_ways, who_was_refused_is_told_of_room)
{
	for (int i = 0; i < 100; i++) {
		put_with_token(5);
		EXPECT_EQ(-1, put(self->fd, COUNT_MAX - 4));
		EXPECT_EQ(EAGAIN, errno);
		EXPECT_EQ(5, get(self->fd));
		EXPECT_EQ(EPOLLOUT, edge(self->epoll));
		/* Once. */
		put_with_token(5);
		EXPECT_EQ(5, get(self->fd));
		EXPECT_EQ(0, edge(self->epoll));
	}
}

/* Refused by a count that left no room at all, it is told once as well. */
TEST_F(both_ways, who_was_refused_any_room_is_told_once)
{
	put_with_token(COUNT_MAX);
	EXPECT_EQ(-1, put(self->fd, 1));
	EXPECT_EQ(COUNT_MAX, (uint64_t)get(self->fd));
	EXPECT_EQ(EPOLLOUT, edge(self->epoll));
	put_with_token(1);
	EXPECT_EQ(1, get(self->fd));
	EXPECT_EQ(0, edge(self->epoll));
}

static void on_signal(int signal)
{
}

struct call {
	int fd;
	pid_t tid;
	pthread_t thread;
	int ret;
	int err;
};

static void *write_too_much(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->ret = put(c->fd, COUNT_MAX - 4);
	c->err = errno;
	return NULL;
}

static void *wait_for_an_edge(void *arg)
{
	struct call *c = arg;
	struct epoll_event e;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->ret = epoll_wait(c->fd, &e, 1, -1);
	return NULL;
}

/* Comes back when the call sleeps. */
static void start(struct call *c, void *(*what)(void *), long nr)
{
	pthread_create(&c->thread, NULL, what, c);
	while (!__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	await_asleep(getpid(), c->tid, nr);
}

/* A write that waited, and was interrupted, may be tried again when there is room. */
TEST_F(both_ways, who_was_interrupted_is_told_of_room)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct call c = { .fd = self->fd };

	sigaction(SIGUSR1, &action, NULL);
	put_with_token(5);
	fcntl(self->fd, F_SETFL, 0);
	start(&c, write_too_much, SYS_write);
	pthread_kill(c.thread, SIGUSR1);
	pthread_join(c.thread, NULL);
	EXPECT_EQ(-1, c.ret);
	EXPECT_EQ(EINTR, c.err);
	EXPECT_EQ(5, get(self->fd));
	EXPECT_EQ(EPOLLOUT, edge(self->epoll));
}

/* A blocked writer is told by itself. Its write may be told of, too, but not as room alone. */
TEST_F(both_ways, a_blocked_writer_makes_no_edge)
{
	struct call c = { .fd = self->fd };

	put_with_token(5);
	fcntl(self->fd, F_SETFL, 0);
	start(&c, write_too_much, SYS_write);
	EXPECT_EQ(5, get(self->fd));
	EXPECT_NE(EPOLLOUT, edge(self->epoll));
	pthread_join(c.thread, NULL);
	EXPECT_EQ(8, c.ret);
}

/* A note does not say whose it is, and it may be the only one. */
TEST_F(both_ways, exclusive_watchers_are_all_told)
{
	struct epoll_event e = { .events = EPOLLOUT | EPOLLET | EPOLLEXCLUSIVE };
	struct call watchers[3] = { 0 };

	put_with_token(5);
	for (int i = 0; i < 3; i++) {
		watchers[i].fd = epoll_create1(0);
		ASSERT_EQ(0, epoll_ctl(watchers[i].fd, EPOLL_CTL_ADD, self->fd, &e));
		EXPECT_EQ(EPOLLOUT, edge(watchers[i].fd));
		start(&watchers[i], wait_for_an_edge, SYS_epoll_wait);
	}
	EXPECT_EQ(-1, put(self->fd, COUNT_MAX - 4));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(5, get(self->fd));
	for (int i = 0; i < 3; i++) {
		pthread_join(watchers[i].thread, NULL);
		EXPECT_EQ(1, watchers[i].ret);
		close(watchers[i].fd);
	}
}

#define REFUSALS 20000

struct exchange {
	int fd;
	int epoll;
};

/* Writes what leaves room for 1, so that only its being refused tells that it waits. */
static void *refused_producer(void *arg)
{
	struct exchange *x = arg;
	struct epoll_event e;

	for (int i = 0; i < REFUSALS; i++)
		while (put(x->fd, COUNT_MAX - 1) != 8)
			epoll_wait(x->epoll, &e, 1, -1);
	return NULL;
}

/* One that is forgotten hangs. */
TEST_F(both_ways, who_is_refused_while_others_read_is_told)
{
	struct exchange x = { .fd = self->fd, .epoll = epoll_create1(0) };
	struct epoll_event e = { .events = EPOLLOUT | EPOLLET };
	pthread_t thread;
	int64_t n;

	ASSERT_EQ(0, limit(x.fd, 1, 1, variant->flags));
	ASSERT_EQ(0, epoll_ctl(x.epoll, EPOLL_CTL_ADD, x.fd, &e));
	ASSERT_EQ(0, pthread_create(&thread, NULL, refused_producer, &x));
	for (int i = 0; i < REFUSALS; i++) {
		while ((n = get(x.fd)) == -EAGAIN)
			sched_yield();
		ASSERT_EQ(COUNT_MAX - 1, (uint64_t)n);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(REFUSALS, stats(x.fd).reads);
	close(x.epoll);
}

TEST_HARNESS_MAIN
