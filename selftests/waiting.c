// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that sleep: what ends them, and whom a write wakes. As in behaviour.c
 * on an eventfd of the running kernel first, then on all kinds of reventfd.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "kselftest_harness.h"
#include "counter.h"

FIXTURE(counter) {
	int fd;
	int nb;
};

FIXTURE_VARIANT(counter) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(counter, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(counter, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(counter, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(counter, sharded) { .kind = SHARDED };

FIXTURE_SETUP(counter)
{
	self->fd = counter(variant->kind, 0);
	self->nb = counter(variant->kind, EFD_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->nb, 0);
}

FIXTURE_TEARDOWN(counter)
{
	close(self->fd);
	close(self->nb);
}

struct call {
	pthread_t thread;
	pid_t tid;
	int fd;
	uint64_t n;
	ssize_t ret;
	int err;
	enum { READS, WRITES, POLLS } what;
};

static void *call_thread(void *arg)
{
	struct call *c = arg;
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	if (c->what == READS)
		c->ret = read(c->fd, &c->n, 8);
	else if (c->what == WRITES)
		c->ret = write(c->fd, &c->n, 8);
	else
		c->ret = poll(&p, 1, -1);
	c->err = errno;
	return NULL;
}

/* Starts the call in a thread of its own and comes back when it sleeps. */
static void start(struct call *c)
{
	const long nr[] = { [READS] = SYS_read, [WRITES] = SYS_write, [POLLS] = SYS_poll };

	c->tid = 0;
	pthread_create(&c->thread, NULL, call_thread, c);
	while (!__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	await_asleep(getpid(), c->tid, nr[c->what]);
}

TEST_F(counter, read_blocks_until_a_write)
{
	struct call c = { .fd = self->fd, .what = READS };

	start(&c);
	put(self->fd, 0);
	put(self->fd, 7);
	pthread_join(c.thread, NULL);
	EXPECT_EQ(8, c.ret);
	EXPECT_EQ(7, c.n);
}

TEST_F(counter, write_blocks_until_there_is_room)
{
	struct call big = { .fd = self->fd, .what = WRITES, .n = 10 };
	struct call small = { .fd = self->fd, .what = WRITES, .n = 3 };

	put(self->fd, COUNT_MAX - 2);
	start(&big);
	start(&small);
	EXPECT_EQ((int64_t)(COUNT_MAX - 2), get(self->fd));
	pthread_join(big.thread, NULL);
	pthread_join(small.thread, NULL);
	EXPECT_EQ(8, big.ret);
	EXPECT_EQ(8, small.ret);
	EXPECT_EQ(13, get(self->fd));
}

TEST_F(counter, poll_outlives_close)
{
	int other = dup(self->fd);
	struct call c = { .fd = self->fd, .what = POLLS };

	start(&c);
	close(self->fd);
	put(other, 1);
	pthread_join(c.thread, NULL);
	EXPECT_EQ(1, c.ret);
	close(other);
}

static void on_signal(int sig)
{
}

TEST_F(counter, signals_interrupt_and_restart)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct call c = { .fd = self->fd, .what = READS };
	struct call w = { .fd = self->nb, .what = WRITES, .n = 1 };

	sigaction(SIGUSR1, &action, NULL);
	start(&c);
	pthread_kill(c.thread, SIGUSR1);
	pthread_join(c.thread, NULL);
	EXPECT_EQ(-1, c.ret);
	EXPECT_EQ(EINTR, c.err);

	fcntl(self->nb, F_SETFL, 0);
	put(self->nb, COUNT_MAX);
	start(&w);
	pthread_kill(w.thread, SIGUSR1);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(-1, w.ret);
	EXPECT_EQ(EINTR, w.err);

	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	start(&c);
	pthread_kill(c.thread, SIGUSR1);
	await_asleep(getpid(), c.tid, SYS_read);
	put(self->fd, 4);
	pthread_join(c.thread, NULL);
	EXPECT_EQ(8, c.ret);
	EXPECT_EQ(4, c.n);
}

FIXTURE(semaphore) {
	int fd;
};

FIXTURE_VARIANT(semaphore) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(semaphore, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(semaphore, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(semaphore, sharded) { .kind = SHARDED };

FIXTURE_SETUP(semaphore)
{
	self->fd = counter(variant->kind, EFD_SEMAPHORE);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(semaphore)
{
	close(self->fd);
}

TEST_F(semaphore, a_write_lets_as_many_through)
{
	struct call c[5] = { 0 };

	for (int i = 0; i < 5; i++) {
		c[i].fd = self->fd;
		start(&c[i]);
	}
	put(self->fd, 2);
	put(self->fd, 3);
	for (int i = 0; i < 5; i++) {
		pthread_join(c[i].thread, NULL);
		EXPECT_EQ(8, c[i].ret);
		EXPECT_EQ(1, c[i].n);
	}
	EXPECT_EQ(POLLOUT, polled(self->fd));
}

TEST_F(semaphore, an_interrupted_reader_takes_nothing_along)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct call c[4] = { 0 };
	int read = 0, interrupted = 0;

	sigaction(SIGUSR1, &action, NULL);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 4; i++) {
			c[i].fd = self->fd;
			start(&c[i]);
		}
		/* The write picks the first; the signal meets it on its way out. */
		put(self->fd, 1);
		pthread_kill(c[0].thread, SIGUSR1);
		pthread_kill(c[1].thread, SIGUSR1);
		put(self->fd, 3);
		for (int i = 0; i < 4; i++) {
			pthread_join(c[i].thread, NULL);
			read += c[i].ret == 8;
			interrupted += c[i].ret == -1;
		}
		fcntl(self->fd, F_SETFL, O_NONBLOCK);
		while (get(self->fd) == 1)
			read++;
		fcntl(self->fd, F_SETFL, 0);
		ASSERT_EQ(4 * (round + 1), read);
	}
	EXPECT_LE(interrupted, 400);
}

TEST_HARNESS_MAIN
