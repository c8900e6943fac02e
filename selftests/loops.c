// SPDX-License-Identifier: GPL-2.0
/*
 * Event loops as programs use them: loops that never read (libevent, libuv,
 * mio), wakes that are read and put back (libzmq), several loops on one
 * counter, counters handed to other programs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "counter.h"

FIXTURE(loop) {
	int fd;
};

FIXTURE_VARIANT(loop) {
	enum kind kind;
	uint32_t rate;
};

FIXTURE_VARIANT_ADD(loop, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(loop, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(loop, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(loop, limited) { .kind = OPENED, .rate = 5000 };

FIXTURE_SETUP(loop)
{
	self->fd = counter(variant->kind, EFD_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	if (variant->rate)
		ASSERT_EQ(0, limit(self->fd, variant->rate, 2, 0));
}

FIXTURE_TEARDOWN(loop)
{
	close(self->fd);
}

static int watch(int fd, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };
	int epoll = epoll_create1(0);

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
		abort();
	return epoll;
}

static int wait_for(int epoll, int timeout)
{
	struct epoll_event e;

	return epoll_wait(epoll, &e, 1, timeout);
}

#define WAKES 1000

struct waker {
	int fd;
	int turn;	/* a pipe: a byte for each wake that has arrived */
};

static void *wake(void *arg)
{
	struct waker *w = arg;
	char byte;

	for (int i = 0; i < WAKES; i++)
		if (put(w->fd, 1) != 8 || read(w->turn, &byte, 1) != 1)
			abort();
	return NULL;
}

TEST_F_TIMEOUT(loop, an_edge_for_each_wake_without_a_read, 60)
{
	int epoll = watch(self->fd, EPOLLIN | EPOLLET), pipe_fd[2];
	struct waker w = { .fd = self->fd };
	pthread_t thread;

	ASSERT_EQ(0, pipe(pipe_fd));
	w.turn = pipe_fd[0];
	pthread_create(&thread, NULL, wake, &w);
	for (int i = 0; i < WAKES; i++) {
		ASSERT_EQ(1, wait_for(epoll, -1));
		ASSERT_EQ(1, write(pipe_fd[1], "x", 1));
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, wait_for(epoll, 0));
	EXPECT_EQ(WAKES, get(self->fd));
	close(epoll);
}

/* libzmq: one wake is taken for one message, the others are put back. */
TEST_F_TIMEOUT(loop, wakes_are_taken_and_put_back, 60)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	int64_t n;

	ASSERT_EQ(8, put(self->fd, 200));
	for (int i = 200; i > 0; i--) {
		ASSERT_EQ(1, poll(&p, 1, -1));
		n = get(self->fd);
		ASSERT_EQ(i, n);
		if (n > 1)
			ASSERT_EQ(8, put(self->fd, n - 1));
	}
	EXPECT_EQ(-EAGAIN, get(self->fd));
}

TEST_F(loop, one_writer_many_loops)
{
	int epoll[50];

	for (int i = 0; i < 50; i++)
		epoll[i] = watch(self->fd, i % 2 ? EPOLLIN : EPOLLIN | EPOLLET);
	for (int round = 0; round < 10; round++) {
		ASSERT_EQ(8, put(self->fd, 1));
		for (int i = 0; i < 50; i++)
			ASSERT_EQ(1, wait_for(epoll[i], -1));
		ASSERT_EQ(1, get(self->fd));
		for (int i = 0; i < 50; i++)
			ASSERT_EQ(0, wait_for(epoll[i], 0));
	}
	for (int i = 0; i < 50; i++)
		close(epoll[i]);
}

TEST_F(loop, nested_loops)
{
	int inner = watch(self->fd, EPOLLIN), middle = watch(inner, EPOLLIN);
	int outer = watch(middle, EPOLLIN | EPOLLET);

	for (int round = 0; round < 10; round++) {
		ASSERT_EQ(0, wait_for(outer, 0));
		ASSERT_EQ(8, put(self->fd, 1));
		ASSERT_EQ(1, wait_for(outer, -1));
		ASSERT_EQ(1, wait_for(middle, 0));
		ASSERT_EQ(1, wait_for(inner, 0));
		ASSERT_EQ(1, get(self->fd));
		ASSERT_EQ(0, wait_for(middle, 0));
	}
	close(outer);
	close(middle);
	close(inner);
}

#define WORKERS 4

struct worker {
	pthread_t thread;
	int fd;
	pid_t tid;
	uint64_t taken;
};

/* Its own epoll, exclusive: one worker at a time is woken for an event. */
static void *work(void *arg)
{
	struct worker *w = arg;
	int epoll = watch(w->fd, EPOLLIN | EPOLLEXCLUSIVE);
	int64_t n;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	for (;;) {
		if (wait_for(epoll, -1) != 1)
			abort();
		n = get(w->fd);
		if (n < 0)
			continue;
		if (n >= 1000000)
			break;
		w->taken += n;
	}
	close(epoll);
	return NULL;
}

TEST_F_TIMEOUT(loop, exclusive_workers_share_the_events, 60)
{
	struct worker w[WORKERS] = { 0 };
	uint64_t sum = 0;

	for (int i = 0; i < WORKERS; i++) {
		w[i].fd = self->fd;
		pthread_create(&w[i].thread, NULL, work, &w[i]);
		while (!__atomic_load_n(&w[i].tid, __ATOMIC_ACQUIRE))
			sched_yield();
		await_asleep(getpid(), w[i].tid, SYS_epoll_wait);
	}
	for (int i = 0; i < 500; i++)
		ASSERT_EQ(8, put(self->fd, 1));
	while (info(self->fd, "eventfd-count"))
		sched_yield();
	/* One big event for each: the end of its taker. */
	for (int i = 0; i < WORKERS; i++) {
		ASSERT_EQ(8, put(self->fd, 1000000));
		while (info(self->fd, "eventfd-count"))
			sched_yield();
	}
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(w[i].thread, NULL);
		sum += w[i].taken;
	}
	EXPECT_EQ(500, sum);
}

static void *read_once(void *arg)
{
	struct worker *w = arg;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->taken = get(w->fd);
	__atomic_store_n(&w->tid, 0, __ATOMIC_RELEASE);
	return NULL;
}

TEST_F(loop, two_blocked_in_read_and_one_in_poll)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct worker w[2] = { 0 };

	fcntl(self->fd, F_SETFL, 0);
	for (int i = 0; i < 2; i++) {
		w[i].fd = self->fd;
		pthread_create(&w[i].thread, NULL, read_once, &w[i]);
		while (!__atomic_load_n(&w[i].tid, __ATOMIC_ACQUIRE))
			sched_yield();
		await_asleep(getpid(), w[i].tid, SYS_read);
	}
	/* Each event is one reader's; the other reader sleeps on. */
	ASSERT_EQ(8, put(self->fd, 5));
	while (__atomic_load_n(&w[0].tid, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&w[1].tid, __ATOMIC_ACQUIRE))
		sched_yield();
	ASSERT_EQ(8, put(self->fd, 6));
	pthread_join(w[0].thread, NULL);
	pthread_join(w[1].thread, NULL);
	EXPECT_EQ(11, w[0].taken + w[1].taken);
	ASSERT_EQ(8, put(self->fd, 7));
	EXPECT_EQ(1, poll(&p, 1, -1));
	EXPECT_EQ(7, get(self->fd));
}

TEST_F(loop, handed_over_fork_and_exec)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	char script[128];
	int status;
	pid_t child = fork();

	if (!child) {
		snprintf(script, sizeof(script),
			 "printf '\\003\\000\\000\\000\\000\\000\\000\\000' >&%d", self->fd);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	EXPECT_EQ(1, poll(&p, 1, -1));
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(3, get(self->fd));
}

static void *close_all(void *arg)
{
	int *fds = arg;

	for (int i = 0; i < 1000; i++)
		close(fds[i]);
	return NULL;
}

/* Closed by another thread while an epoll waits on a thousand of them. */
TEST_F(loop, closed_while_a_loop_waits)
{
	struct rlimit files = { 4096, 4096 };
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = watch(self->fd, EPOLLIN), fds[1000];
	pthread_t thread;

	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < 1000; i++) {
		fds[i] = counter(variant->kind, 0);
		ASSERT_GE(fds[i], 0);
		ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &e));
		if (variant->rate)
			limit(fds[i], 1000, 1, 0);
		if (i % 2)
			put(fds[i], 1);
		put(fds[i], 1);
	}
	pthread_create(&thread, NULL, close_all, fds);
	for (int i = 0; i < 1000; i++)
		ASSERT_GE(wait_for(epoll, 0), 0);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, wait_for(epoll, 0));
	put(self->fd, 1);
	EXPECT_EQ(1, wait_for(epoll, -1));
	close(epoll);
}

TEST_HARNESS_MAIN
