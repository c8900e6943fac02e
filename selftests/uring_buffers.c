// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring with registered buffers, which the kernel has by their pages: such
 * a write is one segment, however many pages it spans.
 */
#define _GNU_SOURCE
#include <liburing.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "counter.h"

FIXTURE(ring) {
	int fd;
	struct io_uring ring;
	/* Two pages of buffer, the first of which ends here. */
	char *buffer;
	char *edge;
};

FIXTURE_VARIANT(ring) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(ring, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(ring, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(ring, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(ring, sharded) { .kind = SHARDED };

FIXTURE_SETUP(ring)
{
	long page = sysconf(_SC_PAGESIZE);
	struct iovec all = { .iov_len = 2 * page };

	self->fd = counter(variant->kind, EFD_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->buffer = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	ASSERT_NE(MAP_FAILED, self->buffer);
	self->edge = self->buffer + page;
	ASSERT_EQ(0, io_uring_queue_init(4, &self->ring, 0));
	all.iov_base = self->buffer;
	ASSERT_EQ(0, io_uring_register_buffers(&self->ring, &all, 1));
}

FIXTURE_TEARDOWN(ring)
{
	io_uring_queue_exit(&self->ring);
	munmap(self->buffer, 2 * (self->edge - self->buffer));
	close(self->fd);
}

static int completed(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int res = io_uring_submit(ring);

	if (res == 1)
		res = io_uring_wait_cqe(ring, &cqe);
	if (res)
		return res;
	res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

static int write_from(struct io_uring *ring, int fd, char *where, unsigned int size)
{
	io_uring_prep_write_fixed(io_uring_get_sqe(ring), fd, where, size, 0, 0);
	return completed(ring);
}

static int read_to(struct io_uring *ring, int fd, char *where, unsigned int size)
{
	io_uring_prep_read_fixed(io_uring_get_sqe(ring), fd, where, size, 0, 0);
	return completed(ring);
}

static void store(char *where, uint64_t n)
{
	memcpy(where, &n, sizeof(n));
}

static uint64_t load(const char *where)
{
	uint64_t n;

	memcpy(&n, where, sizeof(n));
	return n;
}

TEST_F(ring, within_a_page)
{
	store(self->buffer, 5);
	ASSERT_EQ(8, write_from(&self->ring, self->fd, self->buffer, 8));
	EXPECT_EQ(8, read_to(&self->ring, self->fd, self->buffer + 8, 8));
	EXPECT_EQ(5, load(self->buffer + 8));
	EXPECT_EQ(-EAGAIN, get(self->fd));
}

TEST_F(ring, across_two_pages)
{
	for (int before = 1; before < 8; before++) {
		char *where = self->edge - before;

		store(where, 0x0102030405060708 + before);
		ASSERT_EQ(8, write_from(&self->ring, self->fd, where, 8));
		store(where, 0);
		EXPECT_EQ(8, read_to(&self->ring, self->fd, where, 8));
		EXPECT_EQ(0x0102030405060708 + before, load(where));
	}
	EXPECT_EQ(-EAGAIN, get(self->fd));
}

/* What is too short is refused; what is too long is taken as this kernel's eventfd takes it. */
TEST_F(ring, sizes)
{
	int judge = counter(EVENTFD, EFD_NONBLOCK);

	store(self->edge - 8, 3);
	store(self->edge, 4);
	for (unsigned int size = 1; size <= 16; size++) {
		int expected = write_from(&self->ring, judge, self->edge - 8, size);

		EXPECT_EQ(expected, write_from(&self->ring, self->fd, self->edge - 8, size));
		EXPECT_EQ(get(judge), get(self->fd));
		EXPECT_EQ(size == 8 ? 8 : size < 8 ? -EINVAL : expected, expected);
	}
	EXPECT_EQ(8, put(self->fd, 1));
	EXPECT_EQ(-EINVAL, read_to(&self->ring, self->fd, self->edge, 7));
	EXPECT_EQ(8, read_to(&self->ring, self->fd, self->edge, 16));
	EXPECT_EQ(1, load(self->edge));
	close(judge);
}

TEST_HARNESS_MAIN
