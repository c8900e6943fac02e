// SPDX-License-Identifier: GPL-2.0
/*
 * Signals from inside the kernel, sent by the sample module on request: what
 * they add, from which contexts, for how long, and to what. Each case runs on
 * eventfd first, which shows what is expected, then on reventfd.
 *
 * Needs samples/client.c to be loaded.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"
#include "signals.h"

static const char *const context_name[] = {
	"task", "softirq", "hardirq", "preempt_off", "irqs_off",
};

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

/* Later kernels do not say what of a signal an eventfd took: that is 0, then. */
#define EXPECT_ADDED(expected, added) do {					\
	int64_t added_ = (added);						\
	EXPECT_TRUE(added_ == (expected) ||					\
		    (variant->kind == EVENTFD && added_ == 0)) {		\
		TH_LOG("added %lld", (long long)added_);			\
	}									\
} while (0)

TEST_F(signal, adds_up_and_is_read)
{
	EXPECT_EQ(POLLOUT, polled(self->fd));
	EXPECT_ADDED(1, signal_by(self->client, 1));
	EXPECT_EQ(POLLIN | POLLOUT, polled(self->fd));
	EXPECT_EQ(1, info(self->fd, "eventfd-count"));
	EXPECT_ADDED(41, signal_by(self->client, 41));
	EXPECT_EQ(8, put(self->fd, 100));
	EXPECT_EQ(142, get(self->fd));
	EXPECT_EQ(POLLOUT, polled(self->fd));
}

/* Where PREEMPT_RT forbids it, the client says so. */
TEST_F(signal, from_every_context)
{
	int64_t sum = 0;

	for (uint32_t c = 0; c < REVENTFD_CLIENT_CONTEXTS; c++) {
		int64_t added = signal_from(self->client, c, 3 + c);

		if (added == -EOPNOTSUPP) {
			TH_LOG("not possible on this kernel: %s", context_name[c]);
			continue;
		}
		EXPECT_ADDED(3 + c, added);
		sum += 3 + c;
	}
	EXPECT_EQ(sum, get(self->fd));
}

/* The one value no write can reach: poll says ERR, and there is no room but by a read. */
TEST_F(signal, saturates)
{
	uint64_t n = 0;

	fcntl(self->fd, F_SETFL, O_NONBLOCK);
	ASSERT_EQ(8, put(self->fd, COUNT_MAX));
	EXPECT_EQ(POLLIN, polled(self->fd));
	EXPECT_ADDED(1, signal_by(self->client, 1));
	EXPECT_EQ(POLLIN | POLLERR, polled(self->fd));
	for (uint64_t more = 0; more < 2; more++) {
		EXPECT_EQ(-1, put(self->fd, more));
		EXPECT_EQ(EAGAIN, errno);
	}
	EXPECT_ADDED(0, signal_by(self->client, 1));
	EXPECT_EQ(POLLIN | POLLERR, polled(self->fd));
	EXPECT_EQ(8, read(self->fd, &n, 8));
	EXPECT_EQ(UINT64_MAX, n);
	EXPECT_EQ(POLLOUT, polled(self->fd));
	EXPECT_EQ(-EAGAIN, get(self->fd));
	EXPECT_EQ(8, put(self->fd, COUNT_MAX));
	EXPECT_EQ(POLLIN, polled(self->fd));
}

TEST_F(signal, takes_what_fits)
{
	uint64_t n = 0;

	ASSERT_EQ(8, put(self->fd, COUNT_MAX - 5));
	EXPECT_ADDED(6, signal_from(self->client, REVENTFD_CLIENT_SOFTIRQ, 100));
	EXPECT_ADDED(0, signal_by(self->client, 100));
	EXPECT_EQ(8, read(self->fd, &n, 8));
	EXPECT_EQ(UINT64_MAX, n);
}

/* The client's reference is to the counter; nobody hears it any more. */
TEST_F(signal, reaches_nobody_once_the_file_is_closed)
{
	for (int i = 0; i < 100; i++) {
		int fd = counter(variant->kind, 0), c = open_client();

		ASSERT_EQ(0, attach(c, fd, variant->kind));
		EXPECT_ADDED(1, signal_by(c, 1));
		ASSERT_EQ(0, close(fd));
		for (uint32_t context = 0; context < REVENTFD_CLIENT_CONTEXTS; context++)
			EXPECT_LE(-EOPNOTSUPP, signal_from(c, context, 1));
		/* One lets go, the other is closed: each way once is once. */
		if (i % 2) {
			EXPECT_EQ(0, ioctl(c, REVENTFD_CLIENT_DETACH));
			EXPECT_EQ(-ENXIO, signal_by(c, 1));
		}
		close(c);
	}
}

TEST_F(signal, two_clients_share_a_counter)
{
	int other = open_client();

	ASSERT_EQ(0, attach(other, self->fd, variant->kind));
	EXPECT_EQ(-1, attach(other, self->fd, variant->kind));
	EXPECT_EQ(EBUSY, errno);
	signal_by(self->client, 1);
	signal_by(other, 2);
	EXPECT_EQ(0, ioctl(other, REVENTFD_CLIENT_DETACH));
	signal_by(self->client, 4);
	EXPECT_EQ(7, get(self->fd));
	close(other);
}

TEST_F(signal, hangs_on_no_other_descriptor)
{
	int c = open_client(), pipes[2], closed = dup(self->fd);
	int other = counter(variant->kind == EVENTFD ? OPENED : EVENTFD, 0);
	int path = open("/dev/reventfd", O_PATH);

	ASSERT_EQ(0, pipe(pipes));
	const struct {
		int fd, err;
	} bad[] = {
		{ -1, EBADF }, { closed, EBADF }, { path, EBADF },
		{ pipes[0], EINVAL }, { c, EINVAL }, { other, EINVAL },
	};

	/* After all have been opened, so that none of them has its number. */
	close(closed);
	for (int i = 0; i < 6; i++) {
		EXPECT_EQ(-1, attach(c, bad[i].fd, variant->kind));
		EXPECT_EQ(bad[i].err, errno) {
			TH_LOG("descriptor %d", i);
		}
		EXPECT_EQ(-ENXIO, signal_by(c, 1));
	}
	close(path);
	close(other);
	close(c);
}

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

TEST(the_modules_stay_while_a_counter_is_held)
{
	int fd = open("/dev/reventfd", O_RDWR), c = open_client();

	ASSERT_EQ(0, attach(c, fd, OPENED));
	close(fd);
	EXPECT_EQ(EWOULDBLOCK, unload("reventfd"));
	EXPECT_EQ(EWOULDBLOCK, unload("reventfd_client"));
	EXPECT_EQ(1, signal_by(c, 1));
	close(c);
}

TEST_HARNESS_MAIN
