// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring on a counter: each case on eventfd first, then on reventfd, then on
 * a reventfd whose limit is too high to be met, so that the limited paths run
 * and the results are the same. What a limit that is met does comes last.
 */
#define _GNU_SOURCE
#include <liburing.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "counter.h"

/* Linux 6.7; liburing 2.3 does not name it. */
#define OP_READ_MULTISHOT 49

FIXTURE(ring) {
	struct io_uring ring;
	int fd;
};

FIXTURE_VARIANT(ring) {
	enum kind kind;
	bool limited;
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(ring, eventfd) { .kind = EVENTFD };
FIXTURE_VARIANT_ADD(ring, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(ring, created) { .kind = CREATED };
FIXTURE_VARIANT_ADD(ring, sharded) { .kind = SHARDED };
FIXTURE_VARIANT_ADD(ring, limited) { .kind = OPENED, .limited = true };
FIXTURE_VARIANT_ADD(ring, eventfd_deferred) {
	.kind = EVENTFD, .flags = IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER,
};

FIXTURE_VARIANT_ADD(ring, opened_deferred) {
	.kind = OPENED, .flags = IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER,
};

FIXTURE_VARIANT_ADD(ring, limited_deferred) {
	.kind = OPENED, .flags = IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER,
	.limited = true,
};

FIXTURE_VARIANT_ADD(ring, eventfd_sqpoll) { .kind = EVENTFD, .flags = IORING_SETUP_SQPOLL };
FIXTURE_VARIANT_ADD(ring, opened_sqpoll) { .kind = OPENED, .flags = IORING_SETUP_SQPOLL };

FIXTURE_SETUP(ring)
{
	self->fd = counter(variant->kind, 0);
	ASSERT_GE(self->fd, 0);
	if (variant->limited)
		ASSERT_EQ(0, limit(self->fd, REVENTFD_RATE_MAX, UINT32_MAX, 0));
	ASSERT_EQ(0, io_uring_queue_init(8, &self->ring, variant->flags));
}

FIXTURE_TEARDOWN(ring)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
}

/* Result of the next completion, which is waited for; its flags in @flags. */
static int completed(struct io_uring *ring, uint64_t *data, unsigned int *flags)
{
	struct io_uring_cqe *cqe;
	int res = io_uring_wait_cqe(ring, &cqe);

	if (res)
		return res;
	res = cqe->res;
	if (data)
		*data = cqe->user_data;
	if (flags)
		*flags = cqe->flags;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

/* Whether nothing has completed, after the kernel has had its turn. */
static bool nothing_completed(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;

	io_uring_get_events(ring);
	return io_uring_peek_cqe(ring, &cqe) == -EAGAIN;
}

static struct io_uring_sqe *queue_read(struct io_uring *ring, int fd, uint64_t *n, uint64_t data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_read(sqe, fd, n, sizeof(*n), 0);
	sqe->user_data = data;
	return sqe;
}

static struct io_uring_sqe *queue_write(struct io_uring *ring, int fd, uint64_t *n, uint64_t data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_write(sqe, fd, n, sizeof(*n), 0);
	sqe->user_data = data;
	return sqe;
}

static void queue_poll(struct io_uring *ring, int fd, bool multishot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (multishot)
		io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, fd, POLLIN);
	sqe->user_data = 7;
}

TEST_F(ring, read_and_write)
{
	uint64_t in = 5, out = 0;

	queue_write(&self->ring, self->fd, &in, 1);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	EXPECT_EQ(8, completed(&self->ring, NULL, NULL));
	queue_read(&self->ring, self->fd, &out, 2);
	/* Under SQPOLL the first may not yet be marked as taken, and counts again. */
	ASSERT_LE(1, io_uring_submit(&self->ring));
	EXPECT_EQ(8, completed(&self->ring, NULL, NULL));
	EXPECT_EQ(5, out);
}

TEST_F(ring, a_read_waits_for_a_write)
{
	uint64_t out = 0;

	queue_read(&self->ring, self->fd, &out, 1);
	io_uring_submit(&self->ring);
	EXPECT_TRUE(nothing_completed(&self->ring));
	ASSERT_EQ(8, put(self->fd, 9));
	EXPECT_EQ(8, completed(&self->ring, NULL, NULL));
	EXPECT_EQ(9, out);
}

TEST_F(ring, a_write_waits_for_room)
{
	uint64_t in = 9, out;

	ASSERT_EQ(8, put(self->fd, COUNT_MAX));
	queue_write(&self->ring, self->fd, &in, 1);
	io_uring_submit(&self->ring);
	EXPECT_TRUE(nothing_completed(&self->ring));
	EXPECT_EQ(8, read(self->fd, &out, 8));
	EXPECT_EQ(COUNT_MAX, out);
	EXPECT_EQ(8, completed(&self->ring, NULL, NULL));
	EXPECT_EQ(9, get(self->fd));
}

TEST_F(ring, wrong_sizes_and_values)
{
	uint64_t max = UINT64_MAX, out;
	struct io_uring_sqe *sqe;

	sqe = queue_read(&self->ring, self->fd, &out, 1);
	sqe->len = 7;
	io_uring_submit(&self->ring);
	EXPECT_EQ(-EINVAL, completed(&self->ring, NULL, NULL));
	queue_write(&self->ring, self->fd, &max, 1);
	io_uring_submit(&self->ring);
	EXPECT_EQ(-EINVAL, completed(&self->ring, NULL, NULL));
	queue_write(&self->ring, self->fd, bad_pointer, 1);
	io_uring_submit(&self->ring);
	EXPECT_EQ(-EFAULT, completed(&self->ring, NULL, NULL));
}

/* What becomes of a read from an empty non-blocking counter: -EAGAIN, or 1 if it waits. */
static int nonblocking_read(struct io_uring *ring, int fd)
{
	uint64_t out = 0;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	queue_read(ring, fd, &out, 1);
	io_uring_submit(ring);
	if (!nothing_completed(ring))
		return completed(ring, NULL, NULL);
	put(fd, 3);
	return completed(ring, NULL, NULL) == 8 && out == 3;
}

/* Kernels differ in what they do with O_NONBLOCK; a kernel's counters must not. */
TEST_F(ring, a_nonblocking_descriptor_is_read_as_an_eventfd)
{
	int judge = eventfd(0, 0);
	struct io_uring ring;

	/* What is completed by a thread of the kernel is not there at once. */
	if (variant->flags & IORING_SETUP_SQPOLL)
		return;
	ASSERT_EQ(0, io_uring_queue_init(8, &ring, variant->flags));
	EXPECT_EQ(nonblocking_read(&ring, judge), nonblocking_read(&self->ring, self->fd));
	io_uring_queue_exit(&ring);
	close(judge);
}

TEST_F(ring, fixed_files_and_links)
{
	uint64_t in = 6, out = 0, data;

	ASSERT_EQ(0, io_uring_register_files(&self->ring, &self->fd, 1));
	queue_write(&self->ring, 0, &in, 1)->flags |= IOSQE_FIXED_FILE | IOSQE_IO_LINK;
	queue_read(&self->ring, 0, &out, 2)->flags |= IOSQE_FIXED_FILE;
	ASSERT_EQ(2, io_uring_submit(&self->ring));
	EXPECT_EQ(8, completed(&self->ring, &data, NULL));
	EXPECT_EQ(1, data);
	EXPECT_EQ(8, completed(&self->ring, &data, NULL));
	EXPECT_EQ(2, data);
	EXPECT_EQ(6, out);
}

TEST_F(ring, poll_single)
{
	unsigned int flags;

	queue_poll(&self->ring, self->fd, false);
	io_uring_submit(&self->ring);
	EXPECT_TRUE(nothing_completed(&self->ring));
	put(self->fd, 1);
	EXPECT_EQ(POLLIN, completed(&self->ring, NULL, &flags));
	EXPECT_EQ(0, flags & IORING_CQE_F_MORE);
	put(self->fd, 1);
	EXPECT_TRUE(nothing_completed(&self->ring));
}

TEST_F(ring, poll_multishot)
{
	unsigned int flags;

	/* A thread of the kernel may arm it after the first write, or in between. */
	if (variant->flags & IORING_SETUP_SQPOLL)
		SKIP(return, "when it is armed cannot be told under SQPOLL");
	queue_poll(&self->ring, self->fd, true);
	io_uring_submit(&self->ring);
	for (int i = 0; i < 20; i++) {
		EXPECT_TRUE(nothing_completed(&self->ring));
		put(self->fd, 1);
		EXPECT_EQ(POLLIN, completed(&self->ring, NULL, &flags) & POLLIN);
		EXPECT_EQ(IORING_CQE_F_MORE, flags & IORING_CQE_F_MORE);
		if (i % 2)
			EXPECT_EQ(2, get(self->fd));
	}
}

TEST_F(ring, cancel_and_remove)
{
	struct io_uring_sqe *sqe;
	uint64_t out, data, seen = 0;

	queue_read(&self->ring, self->fd, &out, 5);
	io_uring_submit(&self->ring);
	EXPECT_TRUE(nothing_completed(&self->ring));
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_cancel64(sqe, 5, 0);
	sqe->user_data = 6;
	io_uring_submit(&self->ring);
	for (int i = 0; i < 2; i++) {
		int res = completed(&self->ring, &data, NULL);

		seen += data;
		EXPECT_EQ(data == 5 ? -ECANCELED : 0, res);
	}
	EXPECT_EQ(11, seen);

	queue_poll(&self->ring, self->fd, true);
	io_uring_submit(&self->ring);
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_poll_remove(sqe, 7);
	sqe->user_data = 8;
	io_uring_submit(&self->ring);
	for (int i = 0; i < 2; i++) {
		int res = completed(&self->ring, &data, NULL);

		EXPECT_EQ(data == 7 ? -ECANCELED : 0, res);
	}
	/* What was cancelled took nothing and wants nothing. */
	put(self->fd, 3);
	EXPECT_TRUE(nothing_completed(&self->ring));
	EXPECT_EQ(3, get(self->fd));
}

/* Takes reads with a buffer of the group for each, until they end. */
static bool queue_read_multishot(struct io_uring *ring, int fd, uint64_t *buffers, int n)
{
	struct io_uring_sqe *sqe;
	int res;

	sqe = io_uring_get_sqe(ring);
	io_uring_prep_provide_buffers(sqe, buffers, sizeof(*buffers), n, 1, 0);
	io_uring_submit(ring);
	res = completed(ring, NULL, NULL);
	if (res < 0)
		return false;
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_rw(OP_READ_MULTISHOT, sqe, fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 1;
	sqe->user_data = 9;
	io_uring_submit(ring);
	return true;
}

static bool has_op(struct io_uring *ring, int op)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	bool has = probe && io_uring_opcode_supported(probe, op);

	io_uring_free_probe(probe);
	return has;
}

TEST_F(ring, read_multishot)
{
	uint64_t buffers[16] = { 0 };
	unsigned int flags;
	int res;

	if (!has_op(&self->ring, OP_READ_MULTISHOT))
		SKIP(return, "this kernel has no multishot read (it came with 6.7)");
	ASSERT_TRUE(queue_read_multishot(&self->ring, self->fd, buffers, 16));
	for (int i = 0; i < 10; i++) {
		EXPECT_TRUE(nothing_completed(&self->ring));
		put(self->fd, i + 1);
		res = completed(&self->ring, NULL, &flags);
		EXPECT_EQ(8, res);
		EXPECT_EQ(IORING_CQE_F_MORE, flags & IORING_CQE_F_MORE);
		EXPECT_EQ(i + 1, buffers[flags >> IORING_CQE_BUFFER_SHIFT]);
	}
	EXPECT_EQ(0, info(self->fd, "eventfd-count"));
}

TEST_F(ring, overflow_ends_a_multishot_and_it_is_armed_anew)
{
	/* Armed before the first write, so not by a thread of the kernel. */
	unsigned int setup = variant->flags & ~IORING_SETUP_SQPOLL;
	struct io_uring_params params = { .flags = IORING_SETUP_CQSIZE | setup, .cq_entries = 2 };
	unsigned int flags = IORING_CQE_F_MORE;
	struct io_uring small;
	int posted = 0;

	ASSERT_EQ(0, io_uring_queue_init_params(2, &small, &params));
	queue_poll(&small, self->fd, true);
	io_uring_submit(&small);
	for (int i = 0; i < 8; i++) {
		put(self->fd, 1);
		io_uring_get_events(&small);
	}
	while (flags & IORING_CQE_F_MORE) {
		ASSERT_EQ(POLLIN, completed(&small, NULL, &flags));
		/* One that fits after all does not end. */
		if (++posted >= 8)
			break;
	}
	/* What came meanwhile is not forgotten: the counter is readable at once. */
	EXPECT_EQ(8, info(self->fd, "eventfd-count"));
	if (!(flags & IORING_CQE_F_MORE)) {
		queue_poll(&small, self->fd, true);
		io_uring_submit(&small);
		EXPECT_EQ(POLLIN, completed(&small, NULL, NULL));
	}
	EXPECT_EQ(8, get(self->fd));
	put(self->fd, 1);
	EXPECT_EQ(POLLIN, completed(&small, NULL, NULL) & POLLIN);
	io_uring_queue_exit(&small);
}

TEST_F(ring, in_another_process)
{
	struct io_uring ring;
	uint64_t out = 0;
	int status;
	pid_t child = fork();

	if (!child) {
		if (io_uring_queue_init(8, &ring, variant->flags))
			_exit(1);
		queue_read(&ring, self->fd, &out, 1);
		io_uring_submit(&ring);
		_exit(completed(&ring, NULL, NULL) != 8 || out != 11);
	}
	put(self->fd, 11);
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
}

#define ROUNDS 1500

static void *write_one_by_one(void *arg)
{
	int *fds = arg;
	char byte;

	for (int i = 0; i < ROUNDS; i++) {
		if (put(fds[0], 1) != 8 || (i % 3 == 0 && read(fds[1], &byte, 1) != 1))
			abort();
	}
	return NULL;
}

/*
 * Between the attempt that finds nothing and the poll that io_uring arms for
 * it, a write must not get lost. Every third write waits until its event has
 * arrived, so that one that is lost is not covered up by the next.
 */
TEST_F_TIMEOUT(ring, no_write_is_lost_before_the_poll_is_armed, 120)
{
	int fds[2] = { self->fd }, acks[2];
	uint64_t sum = 0, out, acked = 0;
	pthread_t thread;

	ASSERT_EQ(0, pipe(acks));
	fds[1] = acks[0];
	pthread_create(&thread, NULL, write_one_by_one, fds);
	while (sum < ROUNDS) {
		queue_read(&self->ring, self->fd, &out, 1);
		io_uring_submit(&self->ring);
		ASSERT_EQ(8, completed(&self->ring, NULL, NULL));
		sum += out;
		/* Write 0, 3, 6 ... each wait for an answer of their own. */
		for (; acked * 3 < sum; acked++)
			ASSERT_EQ(1, write(acks[1], "x", 1));
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(ROUNDS, sum);
}

#define TRACING "/sys/kernel/tracing/"

static bool trace_punts(const char *on)
{
	int fd = open(TRACING "events/io_uring/io_uring_queue_async_work/enable", O_WRONLY);
	bool ok = fd >= 0 && write(fd, on, 1) == 1;

	close(fd);
	if (*on == '1')
		close(open(TRACING "trace", O_WRONLY | O_TRUNC));
	return ok;
}

static int punts(void)
{
	FILE *f = fopen(TRACING "trace", "r");
	char line[512];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += !!strstr(line, "io_uring_queue_async_work:");
	if (f)
		fclose(f);
	return n;
}

/* Nothing of ours is given to a worker thread; what eventfd does is its affair. */
TEST_F(ring, nothing_is_punted_to_a_worker)
{
	uint64_t in = 1, out;

	if (!trace_punts("1"))
		SKIP(return, "no tracefs, or not root");
	for (int i = 0; i < 50; i++) {
		queue_read(&self->ring, self->fd, &out, 1);
		queue_write(&self->ring, self->fd, &in, 2);
		io_uring_submit(&self->ring);
		EXPECT_EQ(8, completed(&self->ring, NULL, NULL));
		EXPECT_EQ(8, completed(&self->ring, NULL, NULL));
		EXPECT_EQ(1, out);
	}
	trace_punts("0");
	/* That eventfd's writes are shows that what is counted is there to be seen. */
	EXPECT_EQ(variant->kind == EVENTFD ? 50 : 0, punts());
}

#define RATE 200
#define BURST 2

static void *storm(void *arg)
{
	for (int i = 0; i < 50000; i++)
		if (put(*(int *)arg, 1) != 8)
			abort();
	return NULL;
}

TEST(a_limited_multishot_poll_keeps_the_bound)
{
	int fd = open("/dev/reventfd", O_RDWR);
	uint64_t start = now_ns(), sum = 0, completions = 0;
	struct io_uring ring;
	unsigned int flags;
	pthread_t thread;

	ASSERT_EQ(0, io_uring_queue_init(8, &ring, 0));
	limit(fd, RATE, BURST, 0);
	queue_poll(&ring, fd, true);
	io_uring_submit(&ring);
	pthread_create(&thread, NULL, storm, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (sum < 50000) {
		int64_t n;

		ASSERT_EQ(POLLIN, completed(&ring, NULL, &flags) & POLLIN);
		ASSERT_EQ(IORING_CQE_F_MORE, flags & IORING_CQE_F_MORE);
		completions++;
		n = get(fd);
		sum += n > 0 ? n : 0;
	}
	pthread_join(thread, NULL);
	EXPECT_LE(completions, BURST + (now_ns() - start) * RATE / NSEC + 1);
	io_uring_queue_exit(&ring);
	close(fd);
}

TEST(a_limited_read_waits_for_its_token)
{
	int fd = open("/dev/reventfd", O_RDWR);
	uint64_t start = now_ns(), out = 0;
	struct io_uring ring;

	ASSERT_EQ(0, io_uring_queue_init(8, &ring, 0));
	limit(fd, 1, 1, 0);
	put(fd, 1);
	EXPECT_EQ(1, get(fd));
	put(fd, 4);
	queue_read(&ring, fd, &out, 1);
	io_uring_submit(&ring);
	EXPECT_EQ(8, completed(&ring, NULL, NULL));
	EXPECT_GE(now_ns(), start + NSEC);
	EXPECT_EQ(4, out);
	io_uring_queue_exit(&ring);
	close(fd);
}

TEST_HARNESS_MAIN
