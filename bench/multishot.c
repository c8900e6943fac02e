// SPDX-License-Identifier: GPL-2.0
/*
 * What io_uring's multishot requests and registered files are worth for a
 * counter: the same events, one after the other, by each way to get them, on
 * eventfd(2) and on /dev/reventfd. One thread writes an event and takes what
 * came of it, so that what is counted does not depend on the scheduler.
 *
 *	multishot [-n EVENTS]
 *
 * Under QEMU's -icount the ns per event are instructions per event.
 */
#define _GNU_SOURCE
#include <liburing.h>
#include <sys/resource.h>

#include "../selftests/counter.h"

/* Linux 6.7; liburing 2.3 does not name it. */
#define OP_READ_MULTISHOT 49
#define BUFFERS 64

enum how { POLL_SINGLE, POLL_MULTISHOT, READ_MULTISHOT };

static const char *const how_name[] = { "poll, re-armed", "poll multishot", "read multishot" };

struct cost {
	uint64_t completions;
	uint64_t calls;		/* system calls, that which writes the event included */
	uint64_t switches;
	uint64_t user_us;
	uint64_t system_us;
	uint64_t ns;
};

struct bench {
	struct io_uring ring;
	uint64_t buffer[BUFFERS];
	int fd;
	/* What the ring knows the counter by. */
	int file;
	bool fixed;
	enum how how;
	struct cost cost;
};

static void fail(const char *what, int err)
{
	fprintf(stderr, "multishot: %s: %s\n", what, strerror(err));
	exit(1);
}

static void enter(struct bench *b, unsigned int wait)
{
	int ret = io_uring_submit_and_wait(&b->ring, wait);

	if (ret < 0)
		fail("io_uring_enter", -ret);
	b->cost.calls++;
}

static struct io_uring_sqe *request(struct bench *b)
{
	return io_uring_get_sqe(&b->ring);
}

static void give_buffer(struct bench *b, int first, int n)
{
	struct io_uring_sqe *sqe = request(b);

	io_uring_prep_provide_buffers(sqe, &b->buffer[first], 8, n, 1, first);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

static void arm(struct bench *b)
{
	struct io_uring_sqe *sqe = request(b);

	if (b->how == READ_MULTISHOT) {
		io_uring_prep_rw(OP_READ_MULTISHOT, sqe, b->file, NULL, 0, 0);
		sqe->flags |= IOSQE_BUFFER_SELECT;
		sqe->buf_group = 1;
	} else if (b->how == POLL_MULTISHOT) {
		io_uring_prep_poll_multishot(sqe, b->file, POLLIN);
	} else {
		io_uring_prep_poll_add(sqe, b->file, POLLIN);
	}
	if (b->fixed)
		sqe->flags |= IOSQE_FIXED_FILE;
}

/* One event: written, announced by a completion, taken. */
static void event(struct bench *b)
{
	struct io_uring_cqe *cqe;
	unsigned int flags;

	if (put(b->fd, 1) != 8)
		fail("write", errno);
	b->cost.calls++;
	if (io_uring_peek_cqe(&b->ring, &cqe)) {
		enter(b, 1);
		if (io_uring_peek_cqe(&b->ring, &cqe))
			fail("no completion", ENODATA);
	}
	if (cqe->res < 0)
		fail(how_name[b->how], -cqe->res);
	flags = cqe->flags;
	io_uring_cqe_seen(&b->ring, cqe);
	b->cost.completions++;

	if (b->how == READ_MULTISHOT) {
		/* Used buffers go back in one call for many. */
		if (flags >> IORING_CQE_BUFFER_SHIFT == BUFFERS / 2 - 1)
			give_buffer(b, 0, BUFFERS / 2);
		else if (flags >> IORING_CQE_BUFFER_SHIFT == BUFFERS - 1)
			give_buffer(b, BUFFERS / 2, BUFFERS / 2);
	} else {
		if (get(b->fd) != 1)
			fail("read", errno);
		b->cost.calls++;
	}
	if (!(flags & IORING_CQE_F_MORE))
		arm(b);
	if (io_uring_sq_ready(&b->ring))
		enter(b, 0);
}

static uint64_t us(struct timeval after, struct timeval before)
{
	return (after.tv_sec - before.tv_sec) * 1000000LL + after.tv_usec - before.tv_usec;
}

static void measure(struct bench *b, enum kind which, int events)
{
	struct rusage before, after;
	int ret;

	memset(&b->cost, 0, sizeof(b->cost));
	b->fd = counter(which, EFD_NONBLOCK);
	if (b->fd < 0)
		fail(which == EVENTFD ? "eventfd" : "/dev/reventfd", errno);
	ret = io_uring_queue_init(BUFFERS, &b->ring, 0);
	if (ret)
		fail("io_uring_setup", -ret);
	ret = b->fixed ? io_uring_register_files(&b->ring, &b->fd, 1) : 0;
	if (ret)
		fail("io_uring_register", -ret);
	b->file = b->fixed ? 0 : b->fd;
	if (b->how == READ_MULTISHOT)
		give_buffer(b, 0, BUFFERS);
	arm(b);
	enter(b, 0);
	for (int i = 0; i < BUFFERS; i++)
		event(b);

	memset(&b->cost, 0, sizeof(b->cost));
	getrusage(RUSAGE_SELF, &before);
	b->cost.ns = now_ns();
	for (int i = 0; i < events; i++)
		event(b);
	b->cost.ns = now_ns() - b->cost.ns;
	getrusage(RUSAGE_SELF, &after);
	b->cost.switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
	b->cost.user_us = us(after.ru_utime, before.ru_utime);
	b->cost.system_us = us(after.ru_stime, before.ru_stime);
	io_uring_queue_exit(&b->ring);
	close(b->fd);
}

static bool kernel_has(int op)
{
	struct io_uring_probe *probe = io_uring_get_probe();
	bool has = probe && io_uring_opcode_supported(probe, op);

	io_uring_free_probe(probe);
	return has;
}

static void compare(enum how how, bool fixed, int events)
{
	static struct bench b;
	uint64_t judge = 0;

	for (int kind = EVENTFD; kind <= OPENED; kind++) {
		b.how = how;
		b.fixed = fixed;
		measure(&b, kind, events);
		if (kind == EVENTFD)
			judge = b.cost.ns;
		printf("| %s | %s | %s | %llu | %llu | %llu | %llu | %llu | %llu | %.2f |\n",
		       how_name[how], fixed ? "registered" : "plain",
		       kind == EVENTFD ? "eventfd" : "reventfd",
		       (unsigned long long)b.cost.completions, (unsigned long long)b.cost.calls,
		       (unsigned long long)b.cost.switches, (unsigned long long)b.cost.user_us,
		       (unsigned long long)b.cost.system_us,
		       (unsigned long long)b.cost.ns / events, (double)b.cost.ns / judge);
	}
}

int main(int argc, char **argv)
{
	int events = argc == 3 && !strcmp(argv[1], "-n") ? atoi(argv[2]) : 10000;

	if ((argc != 1 && argc != 3) || events <= 0) {
		fprintf(stderr, "usage: multishot [-n EVENTS]\n");
		return 2;
	}
	printf("| request | file | counter | completions | system calls | context switches ");
	printf("| user us | system us | ns per event | of eventfd's |\n");
	printf("| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: |\n");
	for (enum how how = POLL_SINGLE; how <= READ_MULTISHOT; how++) {
		if (how == READ_MULTISHOT && !kernel_has(OP_READ_MULTISHOT)) {
			printf("\n%s: not on this kernel, it came with Linux 6.7\n", how_name[how]);
			break;
		}
		compare(how, false, events);
		compare(how, true, events);
	}
	return 0;
}
