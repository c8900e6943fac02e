// SPDX-License-Identifier: GPL-2.0
/*
 * eventfd(2), point by point: each test runs on an eventfd of the running
 * kernel first, then on all kinds of reventfd. Calls that sleep are in
 * waiting.c.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

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

TEST_F(counter, read_needs_eight_bytes)
{
	char buf[16];

	for (int size = 0; size < 8; size++) {
		EXPECT_EQ(-1, read(self->nb, buf, size));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, read(self->nb, buf, 8));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(8, put(self->nb, 5));
	EXPECT_EQ(-1, read(self->nb, buf, 7));
	EXPECT_EQ(8, read(self->nb, buf, 16));
	EXPECT_EQ(5, *(uint64_t *)buf);
}

TEST_F(counter, read_takes_the_sum)
{
	ASSERT_EQ(8, put(self->nb, 1));
	ASSERT_EQ(8, put(self->nb, 41));
	EXPECT_EQ(42, get(self->nb));
	EXPECT_EQ(-EAGAIN, get(self->nb));
}

TEST_F(counter, read_vector_may_split_the_value)
{
	uint32_t half[2] = { 0 };
	struct iovec v[] = { { &half[0], 4 }, { &half[1], 4 } };

	ASSERT_EQ(8, put(self->nb, 0x500000003ULL));
	EXPECT_EQ(8, readv(self->nb, v, 2));
	EXPECT_EQ(3, half[0]);
	EXPECT_EQ(5, half[1]);
	EXPECT_EQ(-1, readv(self->nb, v, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(counter, read_into_a_bad_buffer_loses_the_count)
{
	ASSERT_EQ(8, put(self->nb, 5));
	EXPECT_EQ(-1, read(self->nb, bad_pointer, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-EAGAIN, get(self->nb));
}

TEST_F(counter, write_size)
{
	uint64_t pair[2] = { 1, 2 };
	int judge = eventfd(0, EFD_NONBLOCK);

	for (int size = 0; size < 8; size++) {
		EXPECT_EQ(-1, write(self->nb, pair, size));
		EXPECT_EQ(EINVAL, errno);
	}
	/* Newer kernels' eventfd refuses more than 8 bytes, older ones do not. */
	EXPECT_EQ(write(judge, pair, 16), write(self->nb, pair, 16));
	EXPECT_EQ(get(judge), get(self->nb));
}

TEST_F(counter, write_values)
{
	EXPECT_EQ(8, put(self->nb, 0));
	EXPECT_EQ(-EAGAIN, get(self->nb));
	EXPECT_EQ(-1, put(self->nb, UINT64_MAX));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(8, put(self->nb, COUNT_MAX));
	EXPECT_EQ(8, put(self->nb, 0));
	EXPECT_EQ(-1, put(self->nb, 1));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(-1, put(self->nb, COUNT_MAX));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ((int64_t)COUNT_MAX, get(self->nb));
	EXPECT_EQ(8, put(self->nb, COUNT_MAX - 1));
	EXPECT_EQ(8, put(self->nb, 1));
}

TEST_F(counter, write_from_a_bad_buffer_changes_nothing)
{
	ASSERT_EQ(8, put(self->nb, 5));
	EXPECT_EQ(-1, write(self->nb, bad_pointer, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(5, get(self->nb));
}

TEST_F(counter, write_vector_is_a_write_for_each_segment)
{
	uint64_t value[3] = { 3, 4, UINT64_MAX };
	struct iovec whole[] = { { &value[0], 8 }, { &value[1], 8 } };
	struct iovec halves[] = { { value, 4 }, { (char *)value + 4, 4 } };
	struct iovec short_end[] = { { &value[0], 8 }, { &value[1], 4 } };
	struct iovec bad_end[] = { { &value[0], 8 }, { bad_pointer, 8 } };
	struct iovec bad_value[] = { { &value[0], 8 }, { &value[2], 8 } };

	EXPECT_EQ(16, writev(self->nb, whole, 2));
	EXPECT_EQ(7, get(self->nb));
	EXPECT_EQ(-1, writev(self->nb, halves, 2));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(8, writev(self->nb, short_end, 2));
	EXPECT_EQ(8, writev(self->nb, bad_end, 2));
	EXPECT_EQ(8, writev(self->nb, bad_value, 2));
	EXPECT_EQ(9, get(self->nb));
	EXPECT_EQ(0, writev(self->nb, whole, 0));
}

TEST_F(counter, nowait)
{
	uint64_t n = 2;
	struct iovec v = { &n, 8 };
	ssize_t written;

	EXPECT_EQ(-1, preadv2(self->fd, &v, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);

	/* eventfd has no way to write without waiting; reventfd has. */
	written = pwritev2(self->fd, &v, 1, -1, RWF_NOWAIT);
	if (variant->kind == EVENTFD) {
		EXPECT_EQ(-1, written);
		EXPECT_EQ(EOPNOTSUPP, errno);
		return;
	}
	EXPECT_EQ(8, written);
	ASSERT_EQ(8, put(self->fd, COUNT_MAX - 2));
	EXPECT_EQ(-1, pwritev2(self->fd, &v, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(8, preadv2(self->fd, &v, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(COUNT_MAX, n);
}

TEST_F(counter, poll_masks)
{
	EXPECT_EQ(POLLOUT, polled(self->fd));
	ASSERT_EQ(8, put(self->fd, 1));
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	ASSERT_EQ(8, put(self->fd, COUNT_MAX - 2));
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	ASSERT_EQ(8, put(self->fd, 1));
	EXPECT_EQ(POLLIN, polled(self->fd));
	get(self->fd);
	EXPECT_EQ(POLLOUT, polled(self->fd));
}

TEST_F(counter, select_masks)
{
	struct timeval none = { 0 };
	fd_set in, out;

	for (int written = 0; written < 2; written++) {
		FD_ZERO(&in);
		FD_ZERO(&out);
		FD_SET(self->fd, &in);
		FD_SET(self->fd, &out);
		EXPECT_EQ(1 + written, select(self->fd + 1, &in, &out, NULL, &none));
		EXPECT_EQ(written, FD_ISSET(self->fd, &in));
		EXPECT_TRUE(FD_ISSET(self->fd, &out));
		put(self->fd, 1);
	}
}

TEST_F(counter, every_write_and_read_is_an_edge)
{
	int epoll = edge_triggered(self->fd);

	EXPECT_EQ(EPOLLOUT, edge(epoll));
	EXPECT_EQ(0, edge(epoll));
	for (int i = 0; i < 5; i++) {
		put(self->fd, 1);
		EXPECT_EQ(EPOLLIN | EPOLLOUT, edge(epoll));
		EXPECT_EQ(0, edge(epoll));
	}
	/* Nothing added, but an event all the same. */
	put(self->fd, 0);
	EXPECT_EQ(EPOLLIN | EPOLLOUT, edge(epoll));
	EXPECT_EQ(5, get(self->fd));
	EXPECT_EQ(EPOLLOUT, edge(epoll));
	EXPECT_EQ(0, edge(epoll));
	put(self->fd, 0);
	EXPECT_EQ(EPOLLOUT, edge(epoll));
	close(epoll);
}

TEST_F(counter, level_triggered_epoll_reports_until_read)
{
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &e));
	EXPECT_EQ(0, edge(epoll));
	put(self->fd, 1);
	EXPECT_EQ(EPOLLIN, edge(epoll));
	EXPECT_EQ(EPOLLIN, edge(epoll));
	get(self->fd);
	EXPECT_EQ(0, edge(epoll));
	close(epoll);
}

TEST_F(counter, what_a_counter_is_not)
{
	uint64_t n = 1;
	loff_t off = 0;
	int p[2], bytes, judge = eventfd(0, 0);

	ASSERT_EQ(0, pipe2(p, O_NONBLOCK));
	EXPECT_EQ(lseek(judge, 5, SEEK_SET), lseek(self->fd, 5, SEEK_SET));
	EXPECT_EQ(0, lseek(self->fd, 0, SEEK_CUR));
	EXPECT_EQ(-1, pread(self->nb, &n, 8, 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, pwrite(self->nb, &n, 8, 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, splice(self->nb, NULL, p[1], NULL, 8, 0));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(8, write(p[1], &n, 8));
	EXPECT_EQ(-1, splice(p[0], NULL, self->nb, NULL, 8, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, splice(p[0], NULL, self->nb, &off, 8, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, ioctl(self->fd, FIONREAD, &bytes));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, fsync(self->fd));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ftruncate(self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	close(judge);
}

TEST_F(counter, nonblock_is_toggled_live)
{
	int on = 1;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-EAGAIN, get(self->fd));
	EXPECT_EQ(O_NONBLOCK, fcntl(self->fd, F_GETFL) & O_NONBLOCK);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	EXPECT_EQ(0, fcntl(self->fd, F_GETFL) & O_NONBLOCK);
	ASSERT_EQ(0, ioctl(self->fd, FIONBIO, &on));
	EXPECT_EQ(-EAGAIN, get(self->fd));
	EXPECT_EQ(-1, ioctl(self->fd, FIOASYNC, &on));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(counter, descriptor_flags)
{
	int fd = counter(variant->kind, EFD_CLOEXEC | EFD_NONBLOCK);
	/* What the VFS adds to every open() of a file. */
	int large = variant->kind == OPENED ? fcntl(fd, F_GETFL) & ~(O_ACCMODE | O_NONBLOCK) : 0;

	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_EQ(O_RDWR | O_NONBLOCK | large, fcntl(fd, F_GETFL));
	EXPECT_EQ(O_RDWR | large, fcntl(self->fd, F_GETFL));
	EXPECT_EQ(0, fcntl(self->fd, F_GETFD));
	close(fd);
}

static int open_after_exec(int fd)
{
	char test[64];
	int status;
	pid_t child = fork();

	if (!child) {
		snprintf(test, sizeof(test), "test -e /proc/self/fd/%d", fd);
		execl("/bin/sh", "sh", "-c", test, NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

TEST_F(counter, close_on_exec)
{
	int fd = counter(variant->kind, EFD_CLOEXEC);

	EXPECT_EQ(1, open_after_exec(fd));
	EXPECT_EQ(0, open_after_exec(self->fd));
	close(fd);
}

TEST_F(counter, shared_by_dup_and_fork)
{
	int other = dup(self->nb), status;
	pid_t child;

	ASSERT_EQ(8, put(other, 2));
	EXPECT_EQ(2, get(self->nb));
	child = fork();
	if (!child)
		_exit(put(self->nb, 3) != 8);
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(3, get(other));
	close(other);
}

TEST_F(counter, passed_over_a_socket)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x';
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int pair[2], got;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &self->nb, sizeof(int));
	ASSERT_EQ(1, sendmsg(pair[0], &m, 0));
	ASSERT_EQ(1, recvmsg(pair[1], &m, 0));
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	ASSERT_EQ(8, put(got, 9));
	EXPECT_EQ(9, get(self->nb));
	close(got);
}

TEST_F(counter, a_thousand_at_once)
{
	struct rlimit files = { 4096, 4096 };
	struct epoll_event e = { .events = EPOLLIN }, all[1000];
	int epoll = epoll_create1(0), fds[1000];

	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < 1000; i++) {
		fds[i] = counter(variant->kind, 0);
		ASSERT_GE(fds[i], 0);
		e.data.fd = i;
		ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &e));
	}
	for (int i = 0; i < 1000; i++)
		ASSERT_EQ(8, put(fds[i], i + 1));
	ASSERT_EQ(1000, epoll_wait(epoll, all, 1000, 0));
	for (int i = 0; i < 1000; i++) {
		ASSERT_EQ(i + 1, get(fds[i]));
		close(fds[i]);
	}
	EXPECT_EQ(0, epoll_wait(epoll, all, 1000, 0));
	close(epoll);
}

/* libzmq reads a wakeup and puts back all but one; it asserts on both. */
TEST_F(counter, read_and_write_back)
{
	uint64_t left = 0;

	put(self->nb, 100);
	for (int i = 0; i < 100; i++) {
		left = get(self->nb);
		ASSERT_EQ(100 - i, left);
		if (left > 1)
			ASSERT_EQ(8, put(self->nb, left - 1));
	}
	EXPECT_EQ(-EAGAIN, get(self->nb));
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

TEST_F(semaphore, read_takes_one)
{
	fcntl(self->fd, F_SETFL, O_NONBLOCK);
	put(self->fd, 3);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
		EXPECT_EQ(1, get(self->fd));
	}
	EXPECT_EQ(-EAGAIN, get(self->fd));
}

TEST(initial_value)
{
	int fd = created(COUNT_MAX, EFD_NONBLOCK);

	EXPECT_EQ(-1, put(fd, 1));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ((int64_t)COUNT_MAX, get(fd));
	close(fd);
	fd = created(7, EFD_NONBLOCK | EFD_SEMAPHORE);
	EXPECT_EQ(1, get(fd));
	EXPECT_EQ(6, info(fd, "eventfd-count"));
	close(fd);
}

TEST_HARNESS_MAIN
