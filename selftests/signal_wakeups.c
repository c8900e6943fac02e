// SPDX-License-Identifier: GPL-2.0
/*
 * Whom a signal from inside the kernel wakes. Each case runs on eventfd first,
 * then on reventfd; what eventfd has not got, the limit, comes last.
 *
 * Needs samples/client.c to be loaded.
 */
#define _GNU_SOURCE
#include <liburing.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "kselftest_harness.h"
#include "signals.h"

FIXTURE(signal) {
	int fd;
	int client;
};

FIXTURE_VARIANT(signal) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(signal, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(signal, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(signal, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(signal, sharded) { .kind = SHARDED };

FIXTURE_SETUP(signal)
{
	self->client = open_client();
	ASSERT_GE(self->client, 0) {
		TH_LOG("no /dev/reventfd-client: load reventfd_client.ko, as root");
	}
	self->fd = counter(variant->kind, 0);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, attach(self->client, self->fd, variant->kind));
}

FIXTURE_TEARDOWN(signal)
{
	close(self->fd);
	close(self->client);
}

struct call {
	pthread_t id;
	pid_t tid;
	int fd;
	uint64_t n;
	ssize_t result;
};

static void *read_one(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->result = read(c->fd, &c->n, 8);
	return NULL;
}

static void *write_one(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->result = put(c->fd, c->n);
	return NULL;
}

static void *poll_one(void *arg)
{
	struct call *c = arg;
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->result = poll(&p, 1, -1);
	c->n = p.revents;
	return NULL;
}

static void start(struct call *c, int fd, void *(*call)(void *), long nr)
{
	c->fd = fd;
	pthread_create(&c->id, NULL, call, c);
	while (!__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	await_asleep(getpid(), c->tid, nr);
}

TEST_F(signal, wakes_a_blocked_reader)
{
	for (uint32_t context = 0; context < REVENTFD_CLIENT_CONTEXTS; context++) {
		struct call c = { 0 };

		start(&c, self->fd, read_one, SYS_read);
		/* Where it cannot come from there, from here. */
		if (signal_from(self->client, context, 7) < 0)
			signal_by(self->client, 7);
		pthread_join(c.id, NULL);
		EXPECT_EQ(8, c.result);
		/* On a later kernel this is 7 signals to an eventfd: the first may wake. */
		if (variant->kind == EVENTFD && c.n < 7)
			c.n += get(self->fd);
		EXPECT_EQ(7, c.n);
	}
}

TEST_F(signal, wakes_a_poller)
{
	struct call c = { 0 };

	start(&c, self->fd, poll_one, SYS_poll);
	signal_from(self->client, REVENTFD_CLIENT_SOFTIRQ, 1);
	pthread_join(c.id, NULL);
	EXPECT_EQ(1, c.result);
	EXPECT_EQ(POLLIN, c.n);
}

TEST_F(signal, a_blocked_writer_waits_out_saturation)
{
	struct call c = { .n = 5 };
	uint64_t n = 0;

	ASSERT_EQ(8, put(self->fd, COUNT_MAX));
	signal_by(self->client, 1);
	start(&c, self->fd, write_one, SYS_write);
	EXPECT_EQ(POLLIN | POLLERR, polled(self->fd));
	EXPECT_EQ(8, read(self->fd, &n, 8));
	EXPECT_EQ(UINT64_MAX, n);
	pthread_join(c.id, NULL);
	EXPECT_EQ(8, c.result);
	EXPECT_EQ(5, get(self->fd));
}

TEST_F(signal, is_an_edge_each_time)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &e));
	EXPECT_EQ(0, epoll_wait(epoll, &e, 1, 0));
	for (uint32_t c = 0; c < REVENTFD_CLIENT_CONTEXTS; c++) {
		if (signal_from(self->client, c, 1) < 0)
			continue;
		EXPECT_EQ(1, epoll_wait(epoll, &e, 1, -1));
		EXPECT_EQ(EPOLLIN, e.events);
		EXPECT_EQ(0, epoll_wait(epoll, &e, 1, 0));
	}
	close(epoll);
}

/* Result of the next completion, which is waited for. */
static int completed(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int res = io_uring_wait_cqe(ring, &cqe);

	if (res)
		return res;
	res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

TEST_F(signal, completes_io_uring_requests)
{
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	uint64_t n = 0;

	ASSERT_EQ(0, io_uring_queue_init(8, &ring, 0));
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_poll_multishot(sqe, self->fd, POLLIN);
	io_uring_submit(&ring);
	for (uint32_t c = 0; c < REVENTFD_CLIENT_CONTEXTS; c++) {
		if (signal_from(self->client, c, 1) < 0)
			continue;
		EXPECT_EQ(POLLIN, completed(&ring) & POLLIN);
		EXPECT_EQ(1, get(self->fd));
	}
	io_uring_queue_exit(&ring);

	ASSERT_EQ(0, io_uring_queue_init(8, &ring, 0));
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read(sqe, self->fd, &n, 8, 0);
	io_uring_submit(&ring);
	signal_from(self->client, REVENTFD_CLIENT_SOFTIRQ, 9);
	EXPECT_EQ(8, completed(&ring));
	EXPECT_EQ(9, n);
	io_uring_queue_exit(&ring);
}

TEST_F(signal, may_come_from_within_a_wakeup)
{
	struct itimerspec soon = { .it_value = { 0, 1 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, relay(self->client, pipes[0]));
	ASSERT_EQ(1, write(pipes[1], "x", 1));
	EXPECT_EQ(1, get(self->fd));
	EXPECT_EQ(1, relayed(self->client).direct);

	/* Its wakeup comes in hard interrupt context. */
	EXPECT_EQ(0, ioctl(self->client, REVENTFD_CLIENT_DETACH));
	ASSERT_EQ(0, attach(self->client, self->fd, variant->kind));
	ASSERT_EQ(0, relay(self->client, timer));
	timerfd_settime(timer, 0, &soon, NULL);
	EXPECT_EQ(1, get(self->fd));
	EXPECT_EQ(2, relayed(self->client).direct);
	EXPECT_EQ(0, relayed(self->client).put_off);
}

/*
 * But not from within another counter's: each holds locks while it wakes, and
 * counters that wake each other in a circle would never come to an end.
 */
TEST_F(signal, is_put_off_within_a_counters_wakeup)
{
	static const enum kind sources[] = { EVENTFD, OPENED };

	for (int i = 0; i < 2; i++) {
		int source = counter(sources[i], 0), c = open_client(), by = open_client();

		ASSERT_EQ(0, attach(c, self->fd, variant->kind));
		ASSERT_EQ(0, relay(c, source));
		ASSERT_EQ(8, put(source, 1));
		EXPECT_EQ(1, get(self->fd));
		ASSERT_EQ(0, attach(by, source, sources[i]));
		signal_from(by, REVENTFD_CLIENT_SOFTIRQ, 1);
		EXPECT_EQ(1, get(self->fd));
		EXPECT_EQ(0, relayed(c).direct);
		EXPECT_EQ(2, relayed(c).put_off);
		close(by);
		close(c);
		close(source);
	}
}

/* The shortest circle: a signal of a counter is the cause of the next. */
TEST_F(signal, a_relay_to_itself_comes_around)
{
	uint64_t rounds;

	ASSERT_EQ(0, relay(self->client, self->fd));
	ASSERT_EQ(8, put(self->fd, 1));
	do {
		sched_yield();
		rounds = relayed(self->client).put_off;
	} while (rounds < 100);
	EXPECT_EQ(0, relayed(self->client).direct);
	/* Each wakeup was put off and then sent, the last one on the way out. */
	rounds = relayed(self->client).put_off;
	EXPECT_EQ(0, ioctl(self->client, REVENTFD_CLIENT_DETACH));
	EXPECT_LE(rounds + 1, get(self->fd));
}

/* A signalfd's wait queue is its task's, and goes with it; the file stays. */
TEST_F(signal, a_relay_outlives_the_queue_it_listens_to)
{
	sigset_t set;
	int status;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(relay(self->client, signalfd(-1, &set, 0)) ? errno : 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, relayed(self->client).direct);
	EXPECT_EQ(0, ioctl(self->client, REVENTFD_CLIENT_DETACH));
}

/* The first case of the readers: all are woken, and each takes its one. */
static void wake_readers(struct __test_metadata *_metadata, enum kind kind)
{
	int fd = counter(kind, EFD_SEMAPHORE), c = open_client();
	struct call readers[4] = { 0 };

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, attach(c, fd, kind));
	for (int i = 0; i < 4; i++)
		start(&readers[i], fd, read_one, SYS_read);
	signal_from(c, REVENTFD_CLIENT_SOFTIRQ, 6);
	for (int i = 0; i < 4; i++) {
		pthread_join(readers[i].id, NULL);
		EXPECT_EQ(8, readers[i].result);
		EXPECT_EQ(1, readers[i].n);
	}
	EXPECT_EQ(2, info(fd, "eventfd-count"));
	EXPECT_EQ(1, get(fd));
	EXPECT_EQ(1, get(fd));
	EXPECT_EQ(POLLOUT, polled(fd));

	/* Saturated, it gives up one, and has room for none. */
	ASSERT_EQ(8, put(fd, COUNT_MAX));
	signal_by(c, 1);
	EXPECT_EQ(POLLIN | POLLERR, polled(fd));
	EXPECT_EQ(1, get(fd));
	EXPECT_EQ(POLLIN, polled(fd));
	close(c);
	close(fd);
}

TEST(of_n_wakes_n_readers_of_a_semaphore_eventfd)
{
	wake_readers(_metadata, EVENTFD);
}

TEST(of_n_wakes_n_readers_of_a_semaphore_created)
{
	wake_readers(_metadata, CREATED);
}

TEST(of_n_wakes_n_readers_of_a_semaphore_sharded)
{
	wake_readers(_metadata, SHARDED);
}

FIXTURE(limited) {
	int fd;
	int client;
	uint64_t start;
};

FIXTURE_VARIANT(limited) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(limited, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(limited, sharded) { .kind = SHARDED };

FIXTURE_SETUP(limited)
{
	self->client = open_client();
	ASSERT_GE(self->client, 0);
	self->fd = counter(variant->kind, 0);
	ASSERT_EQ(0, attach(self->client, self->fd, variant->kind));
}

FIXTURE_TEARDOWN(limited)
{
	close(self->fd);
	close(self->client);
}

TEST_F(limited, waits_for_its_token)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	uint64_t start = now_ns();
	short early;

	ASSERT_EQ(0, limit(self->fd, 1, 1, 0));
	EXPECT_EQ(1, signal_by(self->client, 1));
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	EXPECT_EQ(1, get(self->fd));
	for (uint32_t c = 0; c < REVENTFD_CLIENT_CONTEXTS; c++)
		EXPECT_LE(-EOPNOTSUPP, signal_from(self->client, c, 2));
	early = polled(self->fd);
	/* Unless the machine was too slow to look before there was one. */
	if (now_ns() < start + NSEC)
		EXPECT_EQ(POLLOUT, early);
	EXPECT_EQ(1, poll(&p, 1, -1));
	EXPECT_LE(start + NSEC, now_ns());
	EXPECT_LE(stats(self->fd).wakeups, 1 + (now_ns() - start) / NSEC);
	EXPECT_LE(4, get(self->fd));
}

#define STORM	20000
#define RATE	200
#define BURST	2

static void *storm(void *arg)
{
	for (int i = 0; i < STORM; i++)
		/* From where it is possible; else from a task. */
		if (signal_from(*(int *)arg, i % REVENTFD_CLIENT_CONTEXTS, 1) < 0)
			signal_by(*(int *)arg, 1);
	return NULL;
}

TEST_F(limited, keeps_the_bound_and_loses_nothing)
{
	uint64_t start = now_ns(), passed, reads = 0;
	int64_t sum = 0;
	pthread_t thread;

	ASSERT_EQ(0, limit(self->fd, RATE, BURST, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, storm, &self->client));
	for (; sum < STORM; reads++)
		sum += get(self->fd);
	pthread_join(thread, NULL);
	EXPECT_EQ(STORM, sum);
	passed = now_ns() - start;
	EXPECT_LE(stats(self->fd).wakeups, BURST + passed * RATE / NSEC + 1);
	EXPECT_LE(reads, stats(self->fd).wakeups);
	EXPECT_LE(1, stats(self->fd).deferred);
}

/* A debt ends with the file; a signal that comes afterwards makes no new one. */
TEST_F(limited, no_debt_outlives_the_file)
{
	for (int i = 0; i < 500; i++) {
		int fd = counter(variant->kind, 0), c = open_client();

		ASSERT_EQ(0, limit(fd, 1000, 1, 0));
		ASSERT_EQ(0, attach(c, fd, variant->kind));
		for (int k = 0; k < 3; k++)
			signal_by(c, 1);
		close(fd);
		for (int k = 0; k < 3; k++)
			EXPECT_LE(0, signal_from(c, REVENTFD_CLIENT_SOFTIRQ, 1));
		close(c);
	}
}

TEST_HARNESS_MAIN
