// SPDX-License-Identifier: GPL-2.0
/*
 * The commands, their errors, and what fdinfo says: every unknown flag, pad,
 * size, pointer and command gets the errno the documentation names, and
 * changes nothing.
 */
#define _GNU_SOURCE
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "kselftest_harness.h"
#include "counter.h"

FIXTURE(device) {
	int fd;
};

FIXTURE_SETUP(device)
{
	self->fd = open("/dev/reventfd", O_RDWR | O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(device)
{
	close(self->fd);
}

#define EXPECT_FAILS(error, call) do {		\
	EXPECT_EQ(-1, call);			\
	EXPECT_EQ(error, errno);		\
} while (0)

TEST_F(device, layout)
{
	EXPECT_EQ(8, sizeof(struct eventfd_qos));
	EXPECT_EQ(16, sizeof(struct reventfd_create));
	EXPECT_EQ(16, sizeof(struct reventfd_limit));
	EXPECT_EQ(40, sizeof(struct reventfd_stats));
	EXPECT_EQ(_IOW('E', 0, uint64_t), EFD_IOC_SET_QOS);
	EXPECT_EQ(_IOR('E', 0, uint64_t), EFD_IOC_GET_QOS);
}

TEST_F(device, create_refuses)
{
	struct reventfd_create c = { 0 };
	int next;

	for (int bit = 0; bit < 32; bit++) {
		c.flags = 1U << bit;
		if (c.flags & (EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK | REVENTFD_SHARDED))
			continue;
		EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_CREATE, &c));
	}
	c.flags = 0;
	c.pad = 1;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_CREATE, &c));
	c.pad = 0;
	c.count = UINT64_MAX;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_CREATE, &c));
	EXPECT_FAILS(EFAULT, ioctl(self->fd, REVENTFD_IOC_CREATE, bad_pointer));
	/* A refused command leaves no descriptor behind. */
	next = dup(self->fd);
	EXPECT_EQ(self->fd + 1, next);
	close(next);
}

TEST_F(device, create_without_a_descriptor_left)
{
	struct reventfd_create c = { .count = 4, .flags = EFD_NONBLOCK };
	struct rlimit before, none;
	int fd;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	none = before;
	none.rlim_cur = self->fd + 1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_FAILS(EMFILE, eventfd(4, EFD_NONBLOCK));
	EXPECT_FAILS(EMFILE, ioctl(self->fd, REVENTFD_IOC_CREATE, &c));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
	fd = ioctl(self->fd, REVENTFD_IOC_CREATE, &c);
	EXPECT_EQ(self->fd + 1, fd);
	EXPECT_EQ(4, get(fd));
	close(fd);
}

TEST_F(device, set_qos)
{
	struct eventfd_qos q = { .token_capacity = 2, .token_rate = 1000 }, got = { 0 };

	EXPECT_EQ(0, ioctl(self->fd, EFD_IOC_SET_QOS, &q));
	EXPECT_EQ(0, ioctl(self->fd, EFD_IOC_GET_QOS, &got));
	EXPECT_EQ(2, got.token_capacity);
	EXPECT_EQ(1000, got.token_rate);

	q.token_rate = REVENTFD_RATE_MAX + 1;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, EFD_IOC_SET_QOS, &q));
	q.token_rate = 1;
	q.token_capacity = 0;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, EFD_IOC_SET_QOS, &q));
	EXPECT_FAILS(EFAULT, ioctl(self->fd, EFD_IOC_SET_QOS, bad_pointer));
	EXPECT_FAILS(EFAULT, ioctl(self->fd, EFD_IOC_GET_QOS, bad_pointer));

	/* None of these changed anything. */
	EXPECT_EQ(0, ioctl(self->fd, EFD_IOC_GET_QOS, &got));
	EXPECT_EQ(1000, got.token_rate);

	q = (struct eventfd_qos) { .token_capacity = UINT32_MAX, .token_rate = REVENTFD_RATE_MAX };
	EXPECT_EQ(0, ioctl(self->fd, EFD_IOC_SET_QOS, &q));
	EXPECT_EQ(0, ioctl(self->fd, EFD_IOC_GET_QOS, &got));
	EXPECT_EQ(UINT32_MAX, got.token_capacity);
	EXPECT_EQ(REVENTFD_RATE_MAX, got.token_rate);

	q.token_rate = 0;
	EXPECT_EQ(0, ioctl(self->fd, EFD_IOC_SET_QOS, &q));
	EXPECT_EQ(0, ioctl(self->fd, EFD_IOC_GET_QOS, &got));
	EXPECT_EQ(0, got.token_rate);
	EXPECT_EQ(0, got.token_capacity);
}

TEST_F(device, set_limit)
{
	struct reventfd_limit l = { .rate = 5, .burst = 3, .flags = REVENTFD_LIMIT_WAKE_ONLY };
	struct reventfd_limit got = { .pad = 7 };

	EXPECT_EQ(0, ioctl(self->fd, REVENTFD_IOC_SET_LIMIT, &l));
	for (int bit = 1; bit < 32; bit++) {
		l.flags = 1U << bit;
		EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_SET_LIMIT, &l));
	}
	l.flags = 0;
	l.pad = 1;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_SET_LIMIT, &l));
	l.pad = 0;
	l.rate = REVENTFD_RATE_MAX + 1;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_SET_LIMIT, &l));
	l.rate = UINT32_MAX;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_SET_LIMIT, &l));
	l.rate = 1;
	l.burst = 0;
	EXPECT_FAILS(EINVAL, ioctl(self->fd, REVENTFD_IOC_SET_LIMIT, &l));
	EXPECT_FAILS(EFAULT, ioctl(self->fd, REVENTFD_IOC_SET_LIMIT, bad_pointer));
	EXPECT_FAILS(EFAULT, ioctl(self->fd, REVENTFD_IOC_GET_LIMIT, bad_pointer));
	EXPECT_FAILS(EFAULT, ioctl(self->fd, REVENTFD_IOC_GET_STATS, bad_pointer));

	EXPECT_EQ(0, ioctl(self->fd, REVENTFD_IOC_GET_LIMIT, &got));
	EXPECT_EQ(5, got.rate);
	EXPECT_EQ(3, got.burst);
	EXPECT_EQ(REVENTFD_LIMIT_WAKE_ONLY, got.flags);
	EXPECT_EQ(0, got.pad);
}

TEST_F(device, semaphores_have_no_limit)
{
	int fd = created(0, EFD_SEMAPHORE);
	struct eventfd_qos q = { 1, 1 }, off = { 0 };

	EXPECT_FAILS(EINVAL, limit(fd, 1, 1, 0));
	EXPECT_FAILS(EINVAL, limit(fd, 0, 0, 0));
	EXPECT_FAILS(EINVAL, ioctl(fd, EFD_IOC_SET_QOS, &q));
	EXPECT_EQ(0, ioctl(fd, EFD_IOC_GET_QOS, &off));
	EXPECT_EQ(0, off.token_rate);
	close(fd);
}

#define SIZED(cmd, size) (((cmd) & ~IOCSIZE_MASK) | ((size) << IOCSIZE_SHIFT))

TEST_F(device, sizes)
{
	char big[64] = { 0 };
	struct reventfd_limit *l = (void *)big;
	const unsigned int sized[] = { REVENTFD_IOC_CREATE, REVENTFD_IOC_SET_LIMIT,
				       REVENTFD_IOC_GET_LIMIT, REVENTFD_IOC_GET_STATS };

	for (int i = 0; i < 4; i++) {
		EXPECT_FAILS(EINVAL, ioctl(self->fd, SIZED(sized[i], 0), big));
		EXPECT_FAILS(EINVAL, ioctl(self->fd, SIZED(sized[i], _IOC_SIZE(sized[i]) - 1),
					   big));
	}
	/* A newer caller whose addition is zero, and one who uses it. */
	l->rate = 8;
	l->burst = 1;
	EXPECT_EQ(0, ioctl(self->fd, SIZED(REVENTFD_IOC_SET_LIMIT, 64), big));
	big[63] = 1;
	l->rate = 9;
	EXPECT_FAILS(E2BIG, ioctl(self->fd, SIZED(REVENTFD_IOC_SET_LIMIT, 64), big));
	memset(big, 0xff, sizeof(big));
	EXPECT_EQ(0, ioctl(self->fd, SIZED(REVENTFD_IOC_GET_LIMIT, 63), big));
	EXPECT_EQ(8, l->rate);
	EXPECT_EQ(0, big[16]);
	EXPECT_EQ(0, big[62]);
	EXPECT_EQ((char)0xff, big[63]);
}

/* A newer caller's structure, of which only what is known here can be reached. */
TEST_F(device, half_a_structure)
{
	long page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	struct reventfd_limit *l = (void *)(two + page - sizeof(*l));

	ASSERT_NE(MAP_FAILED, two);
	ASSERT_EQ(0, mprotect(two + page, page, PROT_NONE));
	l->rate = 8;
	l->burst = 1;
	EXPECT_FAILS(EFAULT, ioctl(self->fd, SIZED(REVENTFD_IOC_SET_LIMIT, 64), l));
	EXPECT_EQ(0, ioctl(self->fd, REVENTFD_IOC_GET_LIMIT, l));
	EXPECT_EQ(0, l->rate);
	EXPECT_FAILS(EFAULT, ioctl(self->fd, SIZED(REVENTFD_IOC_GET_LIMIT, 64), l));
	munmap(two, 2 * page);
}

TEST_F(device, unknown_commands)
{
	uint64_t arg[8] = { 0 };

	for (int nr = 3; nr < 256; nr++) {
		EXPECT_FAILS(ENOTTY, ioctl(self->fd, _IO(0xEF, nr), arg));
		EXPECT_FAILS(ENOTTY, ioctl(self->fd, _IOW(0xEF, nr, uint64_t), arg));
		EXPECT_FAILS(ENOTTY, ioctl(self->fd, _IOR('E', nr, uint64_t), arg));
	}
	EXPECT_FAILS(ENOTTY, ioctl(self->fd, _IO(0xEF, 1), arg));
	EXPECT_FAILS(ENOTTY, ioctl(self->fd, _IOWR(0xEF, 1, struct reventfd_limit), arg));
	EXPECT_FAILS(ENOTTY, ioctl(self->fd, _IOW('E', 0, uint32_t), arg));
	EXPECT_FAILS(ENOTTY, ioctl(self->fd, 0, arg));
	EXPECT_FAILS(ENOTTY, ioctl(self->fd, UINT32_MAX, arg));
}

TEST_F(device, commands_ask_for_no_access_mode)
{
	int ro = open("/dev/reventfd", O_RDONLY);
	int wo = open("/dev/reventfd", O_WRONLY);
	int path = open("/dev/reventfd", O_PATH);
	uint64_t n = 1;

	EXPECT_EQ(0, limit(ro, 1, 1, 0));
	EXPECT_FAILS(EBADF, put(ro, 1));
	EXPECT_EQ(8, put(wo, 1));
	EXPECT_FAILS(EBADF, read(wo, &n, 8));
	EXPECT_FAILS(EBADF, limit(path, 1, 1, 0));
	close(ro);
	close(wo);
	close(path);
}

TEST_F(device, statistics)
{
	struct reventfd_stats s;

	put(self->fd, 3);
	put(self->fd, 0);
	get(self->fd);
	get(self->fd);
	s = stats(self->fd);
	EXPECT_EQ(2, s.writes);
	EXPECT_EQ(1, s.reads);
	/* Nobody waited, so nobody was woken. */
	EXPECT_EQ(0, s.wakeups);
	EXPECT_EQ(0, s.deferred);
	EXPECT_EQ(0, s.timer_fires);
}

static void read_fdinfo(int fd, char *text, size_t size)
{
	char path[64];
	int info;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY);
	n = read(info, text, size - 1);
	text[n < 0 ? 0 : n] = 0;
	close(info);
}

TEST_F(device, fdinfo_begins_as_eventfds)
{
	char ours[1024], expected[128];

	put(self->fd, 0xabc);
	read_fdinfo(self->fd, ours, sizeof(ours));
	snprintf(expected, sizeof(expected),
		 "\neventfd-count: %16llx\neventfd-id: %d\neventfd-semaphore: 0\nreventfd-rate: 0\n",
		 0xabcULL, (int)info(self->fd, "eventfd-id"));
	EXPECT_NE(NULL, strstr(ours, expected)) {
		TH_LOG("fdinfo:\n%s\nexpected in it:%s", ours, expected);
	}
}

TEST_F(device, fdinfo_of_a_limited_counter)
{
	int other = created(1, EFD_SEMAPHORE);

	EXPECT_EQ(1, info(other, "eventfd-semaphore"));
	EXPECT_NE(info(other, "eventfd-id"), info(self->fd, "eventfd-id"));
	close(other);

	limit(self->fd, 1, 7, REVENTFD_LIMIT_WAKE_ONLY);
	put(self->fd, 5);
	EXPECT_EQ(1, info(self->fd, "reventfd-rate"));
	EXPECT_EQ(7, info(self->fd, "reventfd-burst"));
	EXPECT_EQ(1, info(self->fd, "reventfd-wake-only"));
	EXPECT_EQ(1, info(self->fd, "reventfd-ready"));
	EXPECT_EQ(0, info(self->fd, "reventfd-owed"));
	EXPECT_EQ(1, info(self->fd, "reventfd-writes"));
	EXPECT_EQ(0, info(self->fd, "reventfd-reads"));
	EXPECT_EQ(1, info(self->fd, "reventfd-wakeups"));
	EXPECT_EQ(0, info(self->fd, "reventfd-deferred"));
	EXPECT_EQ(0, info(self->fd, "reventfd-timer-fires"));
	get(self->fd);
	EXPECT_EQ(0, info(self->fd, "reventfd-ready"));
	EXPECT_EQ(1, info(self->fd, "reventfd-reads"));
}

TEST_F(device, fdinfo_of_a_sharded_counter)
{
	int fd = created(7, REVENTFD_SHARDED | EFD_NONBLOCK);
	int shards = info(fd, "reventfd-shards");

	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, info(self->fd, "reventfd-shards"));
	EXPECT_GT(shards, 0);
	EXPECT_EQ(0, shards & (shards - 1));
	EXPECT_EQ(7, info(fd, "eventfd-count"));
	EXPECT_EQ(8, put(fd, 1));
	EXPECT_EQ(-1, put(fd, COUNT_MAX - 7));
	EXPECT_EQ(8, get(fd));
	EXPECT_EQ(1, info(fd, "reventfd-writes"));
	EXPECT_EQ(1, info(fd, "reventfd-reads"));
	close(fd);
}

TEST_F(device, reopening_makes_another_counter)
{
	char path[64];
	int other;

	put(self->fd, 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	other = open(path, O_RDWR | O_NONBLOCK);
	EXPECT_GE(other, 0);
	EXPECT_EQ(-EAGAIN, get(other));
	EXPECT_EQ(1, get(self->fd));
	close(other);
}

/* An eventfd has no path at which others could be watched. */
TEST_F(device, inotify_sees_no_reads_and_writes)
{
	char event[512];
	int watch = inotify_init1(IN_NONBLOCK);

	if (watch < 0)
		SKIP(return, "this kernel has no inotify");
	ASSERT_GE(inotify_add_watch(watch, "/dev/reventfd", IN_ACCESS | IN_MODIFY), 0);
	put(self->fd, 1);
	get(self->fd);
	EXPECT_FAILS(EAGAIN, read(watch, event, sizeof(event)));
	close(watch);
}

TEST_HARNESS_MAIN
