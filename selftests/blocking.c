// SPDX-License-Identifier: GPL-2.0
/*
 * The other half of differential.c: threads that do sleep in their calls, in
 * an order nobody knows, so that only what must hold in any order can be
 * compared. Readers and writers draw what they do next, values that fill the
 * counter among them, while signals interrupt them at random. Nothing is
 * lost, nothing is made, and nobody is left asleep while there is something
 * for him.
 *
 * REVENTFD_SEED in the environment chooses the numbers; the one used is printed.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>

#include "kselftest_harness.h"
#include "counter.h"
#include "fuzz.h"

#define READERS 3
#define WRITERS 3
#define WRITES	3000

FIXTURE(threads) {
	int fd;
};

FIXTURE_VARIANT(threads) {
	enum kind kind;
	int flags;
	uint32_t rate;
};

FIXTURE_VARIANT_ADD(threads, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(threads, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(threads, eventfd_semaphore) { .kind = EVENTFD, .flags = EFD_SEMAPHORE };
FIXTURE_VARIANT_ADD(threads, created_semaphore) { .kind = CREATED, .flags = EFD_SEMAPHORE };
FIXTURE_VARIANT_ADD(threads, sharded) { .kind = SHARDED };
FIXTURE_VARIANT_ADD(threads, sharded_semaphore) { .kind = SHARDED, .flags = EFD_SEMAPHORE };
FIXTURE_VARIANT_ADD(threads, limited) { .kind = CREATED, .rate = 20000 };

struct thread {
	pthread_t id;
	struct dice dice;
	int fd;
	bool semaphore;
	/* All that it wrote or read, modulo 2^64. */
	uint64_t sum;
	uint64_t interrupted;
	uint64_t wrong;
};

static bool done;

static void on_signal(int sig)
{
}

/* Small ones mostly; of the others two fill the counter. */
static uint64_t draw(struct thread *t)
{
	static const uint64_t big[] = { 1ULL << 62, 1ULL << 63, COUNT_MAX, COUNT_MAX - 1 };

	if (t->semaphore)
		return below(&t->dice, 3);
	if (below(&t->dice, 20))
		return below(&t->dice, 1000);
	return big[below(&t->dice, 4)];
}

static void *write_at_random(void *arg)
{
	struct thread *t = arg;
	struct iovec v;
	uint64_t n;
	ssize_t ret;

	for (int i = 0; i < WRITES; i++) {
		n = draw(t);
		v = (struct iovec) { &n, 8 };
		while ((ret = below(&t->dice, 2) ? write(t->fd, &n, 8) : writev(t->fd, &v, 1)) < 0)
			t->interrupted++;
		t->wrong += ret != 8;
		t->sum += n;
	}
	return NULL;
}

static ssize_t read_somehow(struct thread *t, uint64_t *n)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	struct iovec v = { n, 8 };

	switch (below(&t->dice, 3)) {
	case 0:
		poll(&p, 1, below(&t->dice, 2) ? -1 : 1);
		return preadv2(t->fd, &v, 1, -1, RWF_NOWAIT);
	case 1:
		return readv(t->fd, &v, 1);
	default:
		return read(t->fd, n, 8);
	}
}

static void *read_at_random(void *arg)
{
	struct thread *t = arg;
	uint64_t n;
	ssize_t ret;

	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		ret = read_somehow(t, &n);
		if (ret < 0) {
			t->interrupted++;
			t->wrong += errno != EINTR && errno != EAGAIN;
			continue;
		}
		t->wrong += ret != 8 || (t->semaphore && n != 1);
		t->sum += n;
	}
	/* The event that ends this thread ends the next. */
	put(t->fd, 1);
	return NULL;
}

static uint64_t seed(void)
{
	const char *given = getenv("REVENTFD_SEED");

	return given ? strtoull(given, NULL, 0) : now_ns();
}

FIXTURE_SETUP(threads)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
	self->fd = counter(variant->kind, variant->flags);
	ASSERT_GE(self->fd, 0);
	if (variant->rate)
		ASSERT_EQ(0, limit(self->fd, variant->rate, 2, 0));
}

FIXTURE_TEARDOWN(threads)
{
	close(self->fd);
}

TEST_F_TIMEOUT(threads, nothing_is_lost_and_nobody_left_asleep, 240)
{
	struct thread t[READERS + WRITERS] = { 0 };
	uint64_t written = 0, read = 0, wrong = 0, chosen = seed();
	struct dice dice = { chosen };

	TH_LOG("seed %llu", (unsigned long long)chosen);
	for (int i = 0; i < READERS + WRITERS; i++) {
		t[i].fd = self->fd;
		t[i].semaphore = variant->flags & EFD_SEMAPHORE;
		t[i].dice.state = roll(&dice);
		ASSERT_EQ(0, pthread_create(&t[i].id, NULL,
					    i < READERS ? read_at_random : write_at_random, &t[i]));
	}
	/* Signals until the writers are through; then none may be needed. */
	for (int i = READERS + WRITERS - 1; i >= READERS; i--)
		while (pthread_tryjoin_np(t[i].id, NULL))
			pthread_kill(t[below(&dice, i)].id, SIGUSR1);
	while (info(self->fd, "eventfd-count"))
		sched_yield();

	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	ASSERT_EQ(8, put(self->fd, 1));
	for (int i = 0; i < READERS; i++)
		pthread_join(t[i].id, NULL);
	for (int i = 0; i < READERS + WRITERS; i++) {
		*(i < READERS ? &read : &written) += t[i].sum;
		wrong += t[i].wrong;
	}
	/* With those that ended the threads. */
	EXPECT_EQ(written + 1 + READERS, read + info(self->fd, "eventfd-count"));
	EXPECT_EQ(0, wrong);
}

TEST_HARNESS_MAIN
