// SPDX-License-Identifier: GPL-2.0
/*
 * More than anybody needs: counters without number in a memory cgroup,
 * thousands of timers at the highest rate, processors that leave during a
 * storm, and a clock that jumps.
 *
 * It needs root, to make the cgroup and to take a processor away; the counters
 * are made by an unprivileged user.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "kmsg.h"

#define GROUP	"/sys/fs/cgroup/crowd"
#define NOBODY	65534
#define DEBTORS	2000

static bool slow(void)
{
	return getenv("REVENTFD_SLOW");
}

static int write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);
	int ret = write(file, text, strlen(text)) < 0 ? -errno : 0;

	close(file);
	return ret;
}

static void allow_files(unsigned long n)
{
	struct rlimit files = { n, n };

	/* By default there is a file for every 10 KiB of memory. */
	write_text("/proc/sys/fs/file-max", "1000000");
	if (setrlimit(RLIMIT_NOFILE, &files))
		abort();
}

/* What the group is charged with. */
static long charged(void)
{
	char text[32] = "";
	int file = open(GROUP "/memory.current", O_RDONLY);
	long bytes = read(file, text, sizeof(text) - 1) > 0 ? atol(text) : 0;

	close(file);
	return bytes;
}

struct crowd {
	int made;
	int err;
	int worked;
	long bytes;	/* charged for all of them and their descriptors */
};

static int make(int device, enum kind kind)
{
	struct reventfd_create create = { .flags = EFD_NONBLOCK };

	if (kind == EVENTFD || kind == OPENED)
		return counter(kind, EFD_NONBLOCK);
	if (kind == SHARDED)
		create.flags |= REVENTFD_SHARDED;
	return ioctl(device, REVENTFD_IOC_CREATE, &create);
}

/* As an unprivileged user makes as many as it gets, and tries the last and the first. */
static void make_crowd(struct crowd *c, int most, enum kind kind)
{
	int first = -1, last = -1, device = open("/dev/reventfd", O_RDWR), fd;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(2);
	c->bytes = -charged();
	for (c->made = 0; c->made < most; c->made++) {
		fd = make(device, kind);
		if (fd < 0) {
			c->err = errno;
			break;
		}
		last = fd;
		if (first < 0)
			first = fd;
	}
	c->bytes += charged();
	c->worked = put(first, 3) == 8 && get(first) == 3 && put(last, 4) == 8 && get(last) == 4;
}

static void in_group(struct crowd *c, const char *bound, int most, enum kind kind)
{
	pid_t child;

	write_text(GROUP "/memory.max", bound);
	child = fork();
	if (!child) {
		write_text(GROUP "/cgroup.procs", "0");
		/* An error, rather than the end of who made them. */
		write_text("/proc/self/oom_score_adj", "-1000");
		make_crowd(c, most, kind);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static bool have_group(void)
{
	write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(GROUP, 0755);
	return !access(GROUP "/memory.max", W_OK);
}

static long long next_id(void)
{
	int fd = counter(OPENED, 0);
	long long id = info(fd, "eventfd-id");

	close(fd);
	return id;
}

/*
 * The memory that a counter takes is charged: the group's limit ends the crowd,
 * and not for the open files alone, which are less than half of @least bytes.
 */
static void bounded(struct __test_metadata *_metadata, enum kind kind, long least)
{
	int most = 100000, mib = slow() ? 4 : 16, before, killed;
	char bound[16];
	struct crowd *c;
	long long id;

	if (geteuid() || !have_group())
		SKIP(return, "no memory cgroup can be made here");
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	allow_files(most + 100);
	id = next_id();

	snprintf(bound, sizeof(bound), "%dM", mib);
	silence_console();
	in_group(c, bound, most, kind);
	EXPECT_EQ(0, unsilence_console("Out of memory", &killed));
	TH_LOG("%d counters in %s, then %s", c->made, bound, strerror(c->err));
	ASSERT_GT(c->made, 100);
	EXPECT_GE(mib * 1048576L / c->made, least);
	EXPECT_EQ(ENOMEM, c->err);
	EXPECT_EQ(1, c->worked);
	EXPECT_EQ(id, next_id());

	/* All of it came back: as many fit again as did before, but for caches. */
	before = c->made;
	memset(c, 0, sizeof(*c));
	in_group(c, bound, before / 2, kind);
	EXPECT_EQ(before / 2, c->made);
	EXPECT_EQ(1, c->worked);
	EXPECT_EQ(id, next_id());
}

TEST(a_crowd_is_bounded_by_its_cgroup)
{
	bounded(_metadata, OPENED, 450);
}

TEST(a_crowd_of_sharded_counters_is_bounded_too)
{
	bounded(_metadata, SHARDED, 800);
}

/* How much of it, beside an eventfd, which is charged for its open file alone. */
TEST(what_is_charged)
{
	static const char *const names[] = { "eventfd", "opened", "created", "sharded" };
	/* Each CPU charges up to 256 KiB ahead: 33 bytes for each of so many. */
	int most = 8000;
	struct crowd *c;
	long each[4];

	if (geteuid() || !have_group())
		SKIP(return, "no memory cgroup can be made here");
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	allow_files(most + 100);
	for (enum kind kind = EVENTFD; kind <= SHARDED; kind++) {
		in_group(c, "max", most, kind);
		ASSERT_EQ(most, c->made);
		each[kind] = c->bytes / most;
		TH_LOG("%s: %ld bytes are charged for each", names[kind], each[kind]);
	}
	EXPECT_GT(each[CREATED], each[EVENTFD] + 128);
	EXPECT_GT(each[SHARDED], each[CREATED] + 64);
}

/* Not bounded: all are made, all work, and all are gone with their owner. */
TEST(a_crowd_comes_and_goes)
{
	int most = getenv("REVENTFD_LONG") ? 100000 : slow() ? 2000 : 10000;
	struct crowd *c;
	long long id;

	if (geteuid())
		SKIP(return, "so many open files need root");
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	allow_files(most + 100);
	id = next_id();
	if (!have_group())
		mkdir(GROUP, 0755);
	in_group(c, "max", most, OPENED);
	EXPECT_EQ(0, c->err);
	EXPECT_EQ(most, c->made);
	EXPECT_EQ(1, c->worked);
	EXPECT_EQ(id, next_id());
}

/* Two writes and a read for each of @n, @rounds times. Returns ns for each such pass. */
static uint64_t keep_busy(const int *fds, int n, int rounds)
{
	uint64_t start = now_ns();

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < n; i++)
			if (put(fds[i], 1) != 8 || put(fds[i], 1) != 8)
				abort();
		for (int i = 0; i < n; i++)
			if (get(fds[i]) != 2)
				abort();
	}
	return (now_ns() - start) / rounds / n;
}

/*
 * The same under a limit, and what the timers did for it: no more than a fire
 * for each wakeup that was put off, and that no more than there were writes.
 */
static void busy_timers(struct __test_metadata *_metadata, const int *fds, int n, uint32_t rate)
{
	struct reventfd_stats sum = { 0 }, s;
	uint64_t ns;
	int rounds = 10;

	for (int i = 0; i < n; i++) {
		s = stats(fds[i]);
		sum.wakeups -= s.wakeups;
		sum.deferred -= s.deferred;
		sum.timer_fires -= s.timer_fires;
		ASSERT_EQ(0, limit(fds[i], rate, !!rate, 0));
	}
	ns = keep_busy(fds, n, rounds);
	for (int i = 0; i < n; i++) {
		s = stats(fds[i]);
		sum.wakeups += s.wakeups;
		sum.deferred += s.deferred;
		sum.timer_fires += s.timer_fires;
	}
	TH_LOG("%d counters at rate %u, %d writes: %u wakeups, %u deferred, %u timer fires",
	       n, rate, 2 * rounds * n, (unsigned int)sum.wakeups, (unsigned int)sum.deferred,
	       (unsigned int)sum.timer_fires);
	TH_LOG("two writes and a read take %u ns", (unsigned int)ns);
	EXPECT_LE(sum.wakeups, 2 * rounds * n);
	EXPECT_LE(sum.timer_fires, sum.deferred);
	EXPECT_LE(sum.deferred, 2 * rounds * n);
}

TEST(timers_in_thousands)
{
	int n = slow() ? 200 : DEBTORS, *fds = calloc(n, sizeof(*fds));

	allow_files(n + 100);
	for (int i = 0; i < n; i++) {
		fds[i] = counter(OPENED, EFD_NONBLOCK);
		ASSERT_GE(fds[i], 0);
	}
	busy_timers(_metadata, fds, n, 0);
	busy_timers(_metadata, fds, n, REVENTFD_RATE_MAX);
	busy_timers(_metadata, fds, n, 20000);

	/* Debts far ahead, all of them there at once, and all dropped. */
	for (int i = 0; i < n; i++) {
		limit(fds[i], 1, 1, 0);
		put(fds[i], 1);
		put(fds[i], 1);
	}
	for (int i = 0; i < n; i++)
		EXPECT_EQ(2, get(fds[i]));
	for (int i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
}

static atomic_int storming;
static atomic_ullong added;

static void *storm(void *arg)
{
	int fd = *(int *)arg;
	unsigned long long sum = 0;

	while (atomic_load(&storming)) {
		if (put(fd, 3) != 8)
			abort();
		sum += 3;
	}
	atomic_fetch_add(&added, sum);
	return NULL;
}

/* An event that was added on a processor is there when that is gone. */
TEST(processors_leave_during_a_storm)
{
	const char *online = "/sys/devices/system/cpu/cpu1/online";
	int fd = counter(SHARDED, EFD_NONBLOCK), rounds = slow() ? 4 : 10;
	unsigned long long taken = 0;
	pthread_t producer[3];
	cpu_set_t one;
	int64_t n;

	if (access(online, W_OK))
		SKIP(return, "no second processor that can be taken away");
	/* First without a storm, and from that processor alone. */
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	EXPECT_EQ(8, put(fd, 41));
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_EQ(0, write_text(online, "0"));
	EXPECT_EQ(POLLIN | POLLOUT, polled(fd));
	EXPECT_EQ(41, info(fd, "eventfd-count"));
	EXPECT_EQ(41, get(fd));
	ASSERT_EQ(0, write_text(online, "1"));
	CPU_SET(1, &one);
	sched_setaffinity(0, sizeof(one), &one);

	limit(fd, 1000, 2, 0);
	atomic_store(&storming, 1);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&producer[i], NULL, storm, &fd));
	for (int i = 0; i < rounds; i++) {
		EXPECT_EQ(0, write_text(online, i % 2 ? "1" : "0"));
		for (int reads = 0; reads < 200; reads++) {
			n = get(fd);
			taken += n > 0 ? n : 0;
		}
	}
	atomic_store(&storming, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(producer[i], NULL);
	EXPECT_EQ(0, write_text(online, "1"));
	n = get(fd);
	taken += n > 0 ? n : 0;
	EXPECT_EQ(atomic_load(&added), taken);
	EXPECT_GT(taken, 0);
	close(fd);
}

/* The clock on the wall may go where it likes: a debt is settled all the same. */
TEST(the_time_of_day_does_not_move_debts)
{
	static const long jumps[] = { 3600, -7200, 86400L * 365, -86400L * 364 };
	struct timespec t;
	int fd = counter(OPENED, 0);

	if (geteuid())
		SKIP(return, "setting the clock needs root");
	ASSERT_EQ(0, limit(fd, 1, 1, 0));
	ASSERT_EQ(8, put(fd, 1));
	ASSERT_EQ(1, get(fd));
	ASSERT_EQ(8, put(fd, 1));
	for (int i = 0; i < 4; i++) {
		uint64_t fires = stats(fd).timer_fires;

		ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &t));
		t.tv_sec += jumps[i];
		ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &t));
		/* Comes back when the debt is settled: not late, and in one go, not early. */
		EXPECT_EQ(1, get(fd));
		EXPECT_LE(stats(fd).timer_fires, fires + 1);
		ASSERT_EQ(8, put(fd, 1));
	}
	EXPECT_LE(stats(fd).wakeups, 6);
	close(fd);
}

TEST_HARNESS_MAIN
