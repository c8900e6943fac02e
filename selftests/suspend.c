// SPDX-License-Identifier: GPL-2.0
/*
 * Suspend and resume: who sleeps on a counter sleeps on after it, gets what
 * comes then, and sees nothing of it in between; a wakeup that was owed comes.
 * On an eventfd of the running kernel first.
 *
 * The kernel's pm_test goes as far as it is told to and comes back: "freezer"
 * freezes the processes, "core" stops all but one CPU and the clocks as well.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/timerfd.h>

#include "kselftest_harness.h"
#include "counter.h"

#define READERS 3

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool file_has(const char *path, const char *word)
{
	char text[256] = "";
	int fd = open(path, O_RDONLY);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	if (fd >= 0)
		close(fd);
	return strstr(text, word);
}

/* Whether the kernel can come back by itself from as far as @level. */
static bool can_suspend(const char *level)
{
	return !geteuid() && file_has("/sys/power/pm_test", level) &&
	       file_has("/sys/power/state", "mem") &&
	       (strcmp(level, "core") || file_has("/sys/power/mem_sleep", "deep"));
}

/* Returns when everything runs again, whether it was suspended. */
static bool go_to(const char *level, const char *seconds)
{
	if (!strcmp(level, "core"))
		write_file("/sys/power/mem_sleep", "deep");
	return write_file("/sys/module/suspend/parameters/pm_test_delay", seconds) &&
	       write_file("/sys/power/pm_test", level) &&
	       write_file("/sys/power/state", "mem");
}

static uint64_t boottime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

FIXTURE(sleepers) {
	int fd;
};

FIXTURE_VARIANT(sleepers) {
	enum kind kind;
	int flags;
	uint32_t rate;
};

FIXTURE_VARIANT_ADD(sleepers, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(sleepers, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(sleepers, sharded) { .kind = SHARDED };
FIXTURE_VARIANT_ADD(sleepers, limited) { .kind = OPENED, .rate = 1000 };
FIXTURE_VARIANT_ADD(sleepers, eventfd_semaphore) { .kind = EVENTFD, .flags = EFD_SEMAPHORE };
FIXTURE_VARIANT_ADD(sleepers, created_semaphore) { .kind = CREATED, .flags = EFD_SEMAPHORE };

FIXTURE_SETUP(sleepers)
{
	if (!can_suspend("freezer"))
		SKIP(return, "needs root and a kernel with CONFIG_PM_DEBUG");
	self->fd = counter(variant->kind, variant->flags);
	ASSERT_GE(self->fd, 0);
	if (variant->rate)
		ASSERT_EQ(0, limit(self->fd, variant->rate, 1, 0));
}

FIXTURE_TEARDOWN(sleepers)
{
	close(self->fd);
}

struct call {
	pthread_t thread;
	pid_t tid;
	int fd;
	int64_t ret;
};

static void *reader(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->ret = get(c->fd);
	return NULL;
}

static void *poller(void *arg)
{
	struct call *c = arg;
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->ret = poll(&p, 1, -1) == 1 ? p.revents : -errno;
	return NULL;
}

/* Comes back when it sleeps. */
static void start(struct call *c, int fd, void *(*what)(void *), long nr)
{
	*c = (struct call) { .fd = fd };
	pthread_create(&c->thread, NULL, what, c);
	while (!__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	await_asleep(getpid(), c->tid, nr);
}

TEST_F(sleepers, sleep_on_and_get_what_comes_then)
{
	int n = variant->flags & EFD_SEMAPHORE ? READERS : 1;
	struct call r[READERS], p;

	for (int i = 0; i < n; i++)
		start(&r[i], self->fd, reader, SYS_read);
	start(&p, self->fd, poller, SYS_poll);
	ASSERT_TRUE(go_to("freezer", "0"));

	/* Woken by the freezer, they found nothing; the kernel goes on with the poll. */
	for (int i = 0; i < n; i++)
		await_asleep(getpid(), r[i].tid, SYS_read);
	await_asleep(getpid(), p.tid, SYS_restart_syscall);
	for (int i = 0; i < n; i++)
		EXPECT_EQ(EBUSY, pthread_tryjoin_np(r[i].thread, NULL));
	EXPECT_EQ(EBUSY, pthread_tryjoin_np(p.thread, NULL));

	/* One more than the readers take, for the poller. */
	ASSERT_EQ(8, put(self->fd, n > 1 ? n + 1 : 7));
	for (int i = 0; i < n; i++) {
		pthread_join(r[i].thread, NULL);
		EXPECT_EQ(n > 1 ? 1 : 7, r[i].ret);
	}
	/* The reader may have been faster than the poller. */
	put(self->fd, 1);
	pthread_join(p.thread, NULL);
	EXPECT_EQ(POLLIN, p.ret);
}

/* What is written before is there afterwards. */
TEST_F(sleepers, what_was_written_before_is_there)
{
	ASSERT_EQ(8, put(self->fd, 5));
	ASSERT_TRUE(go_to("freezer", "0"));
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	EXPECT_EQ(variant->flags & EFD_SEMAPHORE ? 1 : 5, get(self->fd));
}

/*
 * The time a wakeup is due stands on CLOCK_MONOTONIC, which suspend stops: as
 * for a timerfd, what was left of the interval is left after it.
 */
TEST(an_owed_wakeup_comes_when_the_clock_has_run_on)
{
	struct itimerspec when = { .it_value.tv_sec = 1 };
	struct pollfd p = { .events = POLLIN };
	uint64_t start, stopped, n;
	int timer;

	if (!can_suspend("core"))
		SKIP(return, "needs root, and CONFIG_PM_DEBUG with suspend to memory");
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	p.fd = open("/dev/reventfd", O_RDWR);
	ASSERT_EQ(0, limit(p.fd, 1, 1, 0));
	start = now_ns();
	ASSERT_EQ(0, timerfd_settime(timer, 0, &when, NULL));
	ASSERT_EQ(8, put(p.fd, 1));
	ASSERT_EQ(1, get(p.fd));
	ASSERT_EQ(8, put(p.fd, 3));

	stopped = boottime_ns() - now_ns();
	ASSERT_TRUE(go_to("core", "2"));
	EXPECT_LE(stopped + NSEC, boottime_ns() - now_ns());

	/* Not yet, as long as the clock says that it cannot be. */
	n = polled(p.fd);
	if (now_ns() < start + NSEC)
		EXPECT_EQ(POLLOUT, n);
	n = polled(timer);
	if (now_ns() < start + NSEC)
		EXPECT_EQ(0, n);
	EXPECT_EQ(8, read(timer, &n, 8));
	EXPECT_LE(start + NSEC, now_ns());
	EXPECT_EQ(1, poll(&p, 1, -1));
	EXPECT_LE(start + NSEC, now_ns());
	EXPECT_EQ(3, get(p.fd));
	EXPECT_EQ(2, stats(p.fd).wakeups);
	EXPECT_GE(1, stats(p.fd).timer_fires);
	close(timer);
	close(p.fd);
}

TEST_HARNESS_MAIN
