// SPDX-License-Identifier: GPL-2.0
/*
 * What one operation costs, on eventfd(2) and on each kind of reventfd.
 *
 *	operations [-r] [-b BATCHES] [-n OPERATIONS]
 *
 * Run under QEMU's -icount (scripts/vm run -i) the ns are instructions: of
 * the kernel and of the loop here, interrupts included. Each value is the
 * median of many batches, so that the batches in which the timer ticked do
 * not count. Without -r a table; with it, the lines of bench.h.
 *
 * Every operation is made by one thread on one CPU. What wakes somebody is
 * measured up to the return of write(2): who is woken does not run before.
 */
#define _GNU_SOURCE
#include <liburing.h>
#include <sys/epoll.h>

#include "bench.h"

const char *bench_name = "operations";

static struct {
	bool raw;
	int batches;
	int n;
} options = { false, 25, 1000 };

/* What an operation works on; made anew for each kind. */
struct subject {
	enum measured kind;
	int fd;
	int epoll;
	int fdinfo;
	struct io_uring ring;
	pthread_t waiter;
	pid_t waiter_tid;
};

struct operation {
	const char *name;
	int calls;	/* system calls in it: as often the floor is part of it */
	void (*prepare)(struct subject *s);
	void (*each_batch)(struct subject *s);
	void (*once)(struct subject *s);
	void (*finish)(struct subject *s);
	/* Measures a whole batch in its own way, instead of once. */
	uint64_t (*batch)(struct subject *s);
};

static void do_getppid(struct subject *s)
{
	(void)s;
	syscall(SYS_getppid);
}

static void do_write(struct subject *s)
{
	if (put(s->fd, 1) != 8)
		fail("write");
}

static void do_pair(struct subject *s)
{
	do_write(s);
	if (get(s->fd) < 1)
		fail("read");
}

static void do_empty_read(struct subject *s)
{
	if (get(s->fd) != -EAGAIN)
		fail("read of nothing");
}

static void do_poll(struct subject *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	if (poll(&p, 1, 0) < 0)
		fail("poll");
}

static void do_fdinfo(struct subject *s)
{
	char text[1024];

	if (pread(s->fdinfo, text, sizeof(text), 0) <= 0)
		fail("fdinfo");
}

static void do_loop(struct subject *s)
{
	struct epoll_event e;

	do_write(s);
	if (epoll_wait(s->epoll, &e, 1, 0) != 1)
		fail("epoll_wait");
	if (get(s->fd) < 1)
		fail("read");
}

/* The completion is posted when the write returns to user space. */
static void do_multishot(struct subject *s)
{
	struct io_uring_cqe *cqe;

	do_write(s);
	if (io_uring_peek_cqe(&s->ring, &cqe) || !(cqe->flags & IORING_CQE_F_MORE))
		fail("no completion");
	io_uring_cqe_seen(&s->ring, cqe);
}

static void prepare_event(struct subject *s)
{
	do_write(s);
}

static void prepare_fdinfo(struct subject *s)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", s->fd);
	s->fdinfo = open(path, O_RDONLY);
	if (s->fdinfo < 0)
		fail(path);
}

static void finish_fdinfo(struct subject *s)
{
	close(s->fdinfo);
}

static void prepare_epoll(struct subject *s)
{
	struct epoll_event e = { .events = EPOLLIN };

	s->epoll = epoll_create1(0);
	if (s->epoll < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->fd, &e))
		fail("epoll");
}

static void finish_epoll(struct subject *s)
{
	close(s->epoll);
}

static void prepare_multishot(struct subject *s)
{
	struct io_uring_sqe *sqe;

	if (io_uring_queue_init(8, &s->ring, 0))
		fail("io_uring_setup");
	sqe = io_uring_get_sqe(&s->ring);
	io_uring_prep_poll_multishot(sqe, s->fd, POLLIN);
	if (io_uring_submit(&s->ring) != 1)
		fail("io_uring_enter");
}

static void finish_multishot(struct subject *s)
{
	io_uring_queue_exit(&s->ring);
}

/* One wakeup granted, the next owed for a second: what follows is deferred. */
static void owe(struct subject *s)
{
	if (s->kind == M_EVENTFD)
		return;
	if (limit(s->fd, 1, 1, 0))
		fail("REVENTFD_IOC_SET_LIMIT");
	do_write(s);
	do_write(s);
}

static void *wait_in_read(void *arg)
{
	struct subject *s = arg;
	uint64_t n;

	s->waiter_tid = syscall(SYS_gettid);
	while (read(s->fd, &n, sizeof(n)) == sizeof(n) && n == 1)
		;
	return NULL;
}

static void *wait_in_poll(void *arg)
{
	struct subject *s = arg;
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	uint64_t n;

	s->waiter_tid = syscall(SYS_gettid);
	while (poll(&p, 1, -1) == 1 && read(s->fd, &n, sizeof(n)) == sizeof(n) && n == 1)
		;
	return NULL;
}

static void set_policy(int policy)
{
	struct sched_param p = { .sched_priority = policy == SCHED_FIFO };

	if (sched_setscheduler(0, policy, &p))
		fail("SCHED_FIFO, which this needs root for");
}

static void start_waiter(struct subject *s, void *(*how)(void *))
{
	fcntl(s->fd, F_SETFL, 0);
	if (pthread_create(&s->waiter, NULL, how, s))
		fail("pthread_create");
	/* From here on this one goes before the waiter on the one CPU. */
	pin(0);
	set_policy(SCHED_FIFO);
}

static void prepare_reader(struct subject *s)
{
	pin(0);
	start_waiter(s, wait_in_read);
}

static void prepare_poller(struct subject *s)
{
	pin(0);
	start_waiter(s, wait_in_poll);
}

static void finish_waiter(struct subject *s)
{
	put(s->fd, 2);
	pthread_join(s->waiter, NULL);
	set_policy(SCHED_OTHER);
}

/* Each write finds the waiter asleep again; only the writes are timed. */
static uint64_t batch_of_wakeups(struct subject *s)
{
	uint64_t start, total = 0, clock;
	struct timespec pause = { .tv_nsec = 200000 };

	clock = now_ns();
	for (int i = 0; i < 100; i++)
		now_ns();
	clock = (now_ns() - clock) / 101;

	for (int i = 0; i < 20; i++) {
		nanosleep(&pause, NULL);
		start = now_ns();
		do_write(s);
		total += now_ns() - start - clock;
	}
	return total * options.n / 20;
}

static const struct operation operations[] = {
	{ "getppid, the floor", 1, .once = do_getppid },
	{ "write", 1, .once = do_write },
	{ "write, then read", 2, .once = do_pair },
	{ "write, deferred", 1, .once = do_write, .each_batch = owe },
	{ "write, epoll entry", 1, .once = do_write, .prepare = prepare_epoll,
	  .finish = finish_epoll },
	{ "write, epoll entry, deferred", 1, .once = do_write, .prepare = prepare_epoll,
	  .each_batch = owe, .finish = finish_epoll },
	{ "write, epoll_wait, read", 3, .once = do_loop, .prepare = prepare_epoll,
	  .finish = finish_epoll },
	{ "write, io_uring multishot poll", 1, .once = do_multishot,
	  .prepare = prepare_multishot, .finish = finish_multishot },
	{ "write, wakes a reader", 1, .batch = batch_of_wakeups, .prepare = prepare_reader,
	  .finish = finish_waiter },
	{ "write, wakes a poller", 1, .batch = batch_of_wakeups, .prepare = prepare_poller,
	  .finish = finish_waiter },
	{ "read, nothing there", 1, .once = do_empty_read },
	{ "poll, nothing there", 1, .once = do_poll },
	{ "poll, an event there", 1, .once = do_poll, .prepare = prepare_event },
	{ "fdinfo", 1, .once = do_fdinfo, .prepare = prepare_fdinfo, .finish = finish_fdinfo },
};

static uint64_t time_batch(const struct operation *op, struct subject *s)
{
	uint64_t start;

	if (op->each_batch)
		op->each_batch(s);
	if (op->batch)
		return op->batch(s);
	op->once(s);
	start = now_ns();
	for (int i = 0; i < options.n; i++)
		op->once(s);
	return now_ns() - start;
}

/* Instructions for one, the median of the batches. */
static uint64_t measure(const struct operation *op, enum measured kind)
{
	struct subject s = { .kind = kind, .fd = make(kind, EFD_NONBLOCK) };
	uint64_t batch[options.batches];

	if (op->prepare)
		op->prepare(&s);
	for (int i = 0; i < options.batches; i++) {
		batch[i] = time_batch(op, &s) / options.n;
		if (options.raw)
			record(op->name, kind, op->calls, i, "instructions", batch[i]);
	}
	if (op->finish)
		op->finish(&s);
	close(s.fd);
	return median(batch, options.batches);
}

static void compare(const struct operation *op)
{
	static uint64_t floor;
	uint64_t judge = 0, cost, calls;

	for (enum measured kind = M_EVENTFD; kind <= M_SHARDED; kind++) {
		if (!have(kind))
			continue;
		cost = measure(op, kind);
		if (op == operations)
			floor = cost;
		if (kind == M_EVENTFD)
			judge = cost;
		calls = op->calls * floor;
		if (!options.raw)
			printf("%-31s %-9s %7llu %6.2f %6.2f\n", op->name, kind_name[kind],
			       (unsigned long long)cost, (double)cost / judge,
			       judge > calls ? (double)(cost - calls) / (judge - calls) : 1);
		if (op->once == do_getppid)
			break;
	}
	fflush(stdout);
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: operations [-r] [-b BATCHES] [-n OPERATIONS]\n"
		"  -r  every batch, to be read by scripts/bench-report\n"
		"  -b  batches, of which the median counts (%d)\n"
		"  -n  operations in a batch (%d)\n", options.batches, options.n);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "rb:n:h")) != -1) {
		if (c == 'r')
			options.raw = true;
		else if (c == 'b')
			options.batches = atoi(optarg);
		else if (c == 'n')
			options.n = atoi(optarg);
		if (c == 'h' || c == '?' || options.batches < 1 || options.n < 1) {
			say_how(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (!options.raw)
		printf("%-31s %-9s %7s %6s %6s\n%-31s %-9s %7s %6s %6s\n", "", "", "ns or", "of",
		       "above", "operation", "counter", "instr.", "eventf", "floor");
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (operations[i].batch && geteuid())
			fprintf(stderr, "operations: no '%s': it needs root's SCHED_FIFO\n",
				operations[i].name);
		else
			compare(&operations[i]);
	}
	return 0;
}
