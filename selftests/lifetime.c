// SPDX-License-Identifier: GPL-2.0
/*
 * Open, close, kill and unload while busy: the module refuses to go while a
 * counter is open, and nothing that dies in a call takes anything with it.
 * With REVENTFD_SLOW=1 in the environment fewer times.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "counter.h"

#define CHILDREN 4

static int times(int n)
{
	return getenv("REVENTFD_SLOW") ? n / 5 : n;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "reventfd", O_NONBLOCK);
}

/* What the kernel says of a module in use, as rmmod's "is in use". */
#define EXPECT_IN_USE() do {			\
	EXPECT_EQ(-1, unload());		\
	EXPECT_EQ(EWOULDBLOCK, errno);		\
} while (0)

static void open_and_close_for_ever(void)
{
	for (unsigned int i = 0;; i++) {
		int fd = i % 2 ? open("/dev/reventfd", O_RDWR | O_NONBLOCK)
			       : created(i, EFD_NONBLOCK);

		limit(fd, 1 + i % 5000, 1 + i % 3, 0);
		put(fd, 1);
		put(fd, 1);
		if (i % 4)
			get(fd);
		close(fd);
	}
}

static pid_t in_child(void (*what)(void))
{
	pid_t child = fork();

	if (!child) {
		what();
		_exit(0);
	}
	return child;
}

static int end(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return WTERMSIG(status);
}

TEST(the_module_stays_while_a_counter_is_open)
{
	int fd;

	if (geteuid())
		SKIP(return, "unloading a module needs root");
	fd = open("/dev/reventfd", O_RDWR);
	ASSERT_GE(fd, 0);
	EXPECT_IN_USE();
	close(fd);

	fd = created(0, 0);
	EXPECT_IN_USE();
	close(fd);
}

TEST(the_module_stays_while_counters_come_and_go)
{
	int fd = open("/dev/reventfd", O_RDWR);
	pid_t child[CHILDREN];

	if (geteuid())
		SKIP(return, "unloading a module needs root");
	for (int i = 0; i < CHILDREN; i++)
		child[i] = in_child(open_and_close_for_ever);
	for (int i = times(1000); i > 0; i--)
		EXPECT_IN_USE();
	for (int i = 0; i < CHILDREN; i++)
		EXPECT_EQ(SIGKILL, end(child[i]));
	close(fd);
}

/* Where the virtual machine has the module. */
#define MODULE "/reventfd.ko"

static struct {
	atomic_ulong used;	/* counters that were opened, and worked */
	atomic_ulong missed;	/* opens that found no device */
	atomic_ulong wrong;	/* what must not be */
} *opens;

static void use_what_is_there(void)
{
	for (;;) {
		int fd = open("/dev/reventfd", O_RDWR | O_NONBLOCK);
		bool missed = errno == ENOENT || errno == ENODEV || errno == ENXIO;

		if (fd < 0) {
			atomic_fetch_add(missed ? &opens->missed : &opens->wrong, 1);
			sched_yield();
			continue;
		}
		limit(fd, 1000000, 1, 0);
		if (put(fd, 2) != 8 || put(fd, 3) != 8 || get(fd) != 5)
			atomic_fetch_add(&opens->wrong, 1);
		else
			atomic_fetch_add(&opens->used, 1);
		/* With a debt whose timer may run. */
		put(fd, 1);
		close(fd);
	}
}

TEST(the_module_goes_and_comes_while_opens_race)
{
	int file = open(MODULE, O_RDONLY | O_CLOEXEC), refused = 0;
	pid_t child[CHILDREN];

	if (geteuid() || file < 0)
		SKIP(return, "loading and unloading takes root and " MODULE);
	opens = mmap(NULL, sizeof(*opens), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, opens);
	for (int i = 0; i < CHILDREN; i++)
		child[i] = in_child(use_what_is_there);
	for (int left = times(20); left > 0;) {
		unsigned long used = atomic_load(&opens->used);

		if (unload()) {
			ASSERT_EQ(EWOULDBLOCK, errno);
			refused++;
			continue;
		}
		left--;
		ASSERT_EQ(0, syscall(SYS_finit_module, file, "", 0));
		/* Somebody has found the new one. */
		while (atomic_load(&opens->used) == used)
			sched_yield();
	}
	for (int i = 0; i < CHILDREN; i++)
		EXPECT_EQ(SIGKILL, end(child[i]));
	TH_LOG("%lu opened, %lu found no device, unloading was refused %d times", opens->used,
	       opens->missed, refused);
	EXPECT_EQ(0, opens->wrong);
	close(file);
}

static int shared;

static void block_in_read(void)
{
	get(shared);
}

static void block_in_write(void)
{
	put(shared, COUNT_MAX);
}

static void block_in_poll(void)
{
	struct pollfd p = { .fd = shared, .events = POLLPRI };

	poll(&p, 1, -1);
}

static void kill_while_asleep(struct __test_metadata *_metadata, void (*what)(void), long nr)
{
	pid_t child[CHILDREN];

	for (int i = 0; i < CHILDREN; i++) {
		child[i] = in_child(what);
		await_asleep(child[i], child[i], nr);
	}
	for (int i = 0; i < CHILDREN; i++)
		EXPECT_EQ(SIGKILL, end(child[i]));
}

TEST(killed_while_asleep)
{
	for (int round = 0; round < 6; round++) {
		shared = open("/dev/reventfd", O_RDWR);
		if (round % 2)
			limit(shared, 1, 1, 0);
		kill_while_asleep(_metadata, block_in_read, SYS_read);
		put(shared, 1);
		kill_while_asleep(_metadata, block_in_write, SYS_write);
		kill_while_asleep(_metadata, block_in_poll, SYS_poll);
		/* It is as it was, and works. */
		EXPECT_EQ(1, get(shared));
		close(shared);
	}
}

/* The last reference goes while others still sleep on what it was dup'ed from. */
TEST(closed_while_a_debt_is_pending)
{
	for (int i = 0; i < 100; i++) {
		pid_t child;

		shared = open("/dev/reventfd", O_RDWR);
		limit(shared, 2000, 1, 0);
		put(shared, 1);
		get(shared);
		child = in_child(block_in_read);
		put(shared, 1);
		put(shared, 1);
		close(shared);
		/* The child reads when the debt is due, and holds the last reference. */
		waitpid(child, NULL, 0);
	}
}

TEST_HARNESS_MAIN
