// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of differential.c: everything that can be done to an eventfd
 * by a single thread, except to sleep in a call that nobody would end.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "operations.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PICK(array, i) ((array)[(i) % COUNT(array)])

static const uint64_t values[] = {
	0, 1, 1, 1, 2, 3, 7, 255, UINT32_MAX, UINT32_MAX + 1ULL, 1ULL << 63,
	COUNT_MAX - 2, COUNT_MAX - 1, COUNT_MAX, UINT64_MAX,
};

static const size_t sizes[] = { 8, 8, 8, 8, 0, 1, 4, 7, 9, 15, 16, 17, 64 };

/* Gives @fd the number that is @s's own, or its other one, and nobody the old. */
static void move_in(struct slot *s, int fd, bool other)
{
	int cloexec = fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
	int from = s->fd, to = s->home[(s->fd == s->home[1]) ^ other];

	if (dup3(fd, to, cloexec) < 0)
		abort();
	close(fd);
	s->fd = to;
	if (from != to && from != fd)
		close(from);
}

void world_open(struct world *w, enum kind kind)
{
	struct epoll_event nested = { .events = EPOLLIN | EPOLLET, .data.u64 = SLOTS };

	memset(w, 0, sizeof(*w));
	w->kind = kind;
	for (int i = 0; i < SLOTS; i++) {
		struct slot *s = &w->slot[i];

		s->home[0] = 100 + 50 * kind + 2 * i;
		s->home[1] = s->home[0] + 1;
		s->fd = s->home[0];
		move_in(s, counter(kind, EFD_NONBLOCK), false);
	}
	for (int i = 0; i < EPOLLS; i++)
		w->epoll[i] = epoll_create1(0);
	epoll_ctl(w->epoll[1], EPOLL_CTL_ADD, w->epoll[0], &nested);
	if (pipe2(w->pipe, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_DGRAM, 0, w->socket))
		abort();
}

void world_close(struct world *w)
{
	for (int i = 0; i < SLOTS; i++)
		close(w->slot[i].fd);
	for (int i = 0; i < 2; i++) {
		close(w->epoll[i]);
		close(w->pipe[i]);
		close(w->socket[i]);
	}
}

static void result(struct outcome *out, int64_t ret)
{
	out->ret = ret;
	out->err = ret < 0 ? errno : 0;
}

/* A result that is a new descriptor: which, is the process's affair. */
static int descriptor(struct outcome *out, int fd)
{
	result(out, fd < 0 ? -1 : 0);
	return fd;
}

static bool blocking(const struct slot *s)
{
	return !(fcntl(s->fd, F_GETFL) & O_NONBLOCK);
}

#define WOULD_SLEEP 1000

static bool read_would_sleep(const struct slot *s, struct outcome *out)
{
	if (s->count || !blocking(s))
		return false;
	out->ret = WOULD_SLEEP;
	return true;
}

static bool write_would_sleep(const struct slot *s, uint64_t n, struct outcome *out)
{
	if (UINT64_MAX - s->count > n || n == UINT64_MAX || !blocking(s))
		return false;
	out->ret = WOULD_SLEEP;
	return true;
}

/* What a read that got as far as the count leaves of it. */
static void taken(struct slot *s)
{
	s->count = s->semaphore && s->count ? s->count - 1 : 0;
}

static void after_read(struct slot *s, struct outcome *out, uint64_t n)
{
	if (out->ret > 0)
		out->value[0] = n;
	if (out->ret > 0 || out->err == EFAULT)
		taken(s);
}

static void do_create(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	/* Unknown bits, too; REVENTFD_IOC_CREATE's initial value is wider than eventfd's. */
	int flags = op->b & (EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE | 0x40000000 | 2);
	uint32_t initial = PICK(values, op->a);
	int fd;

	if (op->b >> 40 & 7)
		flags &= ~(0x40000000 | 2);
	fd = w->kind == EVENTFD ? eventfd(initial, flags) : created(initial, flags);
	if (descriptor(out, fd) < 0)
		return;
	move_in(s, fd, false);
	s->count = initial;
	s->semaphore = flags & EFD_SEMAPHORE;
}

static void do_write(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	uint64_t buf[8] = { PICK(values, op->a), 5, 6, 7 };

	if (write_would_sleep(s, buf[0], out))
		return;
	result(out, write(s->fd, buf, PICK(sizes, op->b)));
	if (out->ret > 0)
		s->count += buf[0];
}

static void do_read(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	uint64_t buf[8] = { 0 };

	if (read_would_sleep(s, out))
		return;
	result(out, read(s->fd, buf, PICK(sizes, op->b)));
	after_read(s, out, buf[0]);
}

static void do_bad_pointer(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	void *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Nowhere, read-only, or running off the end of what is mapped. */
	void *const bad[] = { bad_pointer, page, (char *)page + 4092 };

	munmap((char *)page + 4096, 4096);
	if (op->b & 1) {
		if (!read_would_sleep(s, out)) {
			result(out, read(s->fd, PICK(bad, op->a), 8));
			after_read(s, out, 0);
		}
	} else if (!write_would_sleep(s, 0, out)) {
		/* The read-only page holds a 0. */
		result(out, write(s->fd, PICK(bad, op->a), 8));
	}
	munmap(page, 4096);
}

/* Cuts @buf, 64 bytes, into segments as @how says. Returns how many. */
static int cut(struct iovec *v, char *buf, uint64_t how)
{
	static const size_t lengths[] = { 8, 8, 8, 0, 1, 4, 7, 16 };
	int n = how % 5;

	for (int i = 0; i < n; i++) {
		how /= 8;
		v[i].iov_base = buf + 16 * i;
		v[i].iov_len = PICK(lengths, how);
	}
	return n;
}

static void do_readv(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	static const int flags[] = { 0, 0, RWF_NOWAIT, RWF_HIPRI, 0x40000000 };
	uint64_t buf[8] = { 0 };
	struct iovec v[4];
	int n = cut(v, (char *)buf, op->a), f = PICK(flags, op->b);

	if (!(f & RWF_NOWAIT) && read_would_sleep(s, out))
		return;
	result(out, f ? preadv2(s->fd, v, n, -1, f) : readv(s->fd, v, n));
	after_read(s, out, buf[0]);
	memcpy(out->value, buf, sizeof(buf));
}

static void do_writev(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	static const int flags[] = { 0, 0, RWF_HIPRI, 0x40000000 };
	uint64_t buf[8] = { 1, 0, 2, 0, PICK(values, op->b), 0, 3 }, before = s->count;
	struct iovec v[4];
	int n = cut(v, (char *)buf, op->a), f = PICK(flags, op->b >> 8);

	/* A blocking one may sleep in any of its segments. */
	if (blocking(s) && UINT64_MAX - s->count <= UINT32_MAX + 6ULL + buf[4]) {
		out->ret = WOULD_SLEEP;
		return;
	}
	if (blocking(s) && buf[4] > UINT32_MAX)
		buf[4] = 4;
	result(out, f ? pwritev2(s->fd, v, n, -1, f) : writev(s->fd, v, n));
	s->count = info(s->fd, "eventfd-count");
	out->value[0] = s->count - before;
}

static void do_positions(struct world *w, const struct operation *op, struct outcome *out)
{
	int fd = w->slot[op->slot].fd;
	uint64_t n = 1;

	switch (op->a % 4) {
	case 0:
		result(out, pread(fd, &n, 8, op->b % 3));
		break;
	case 1:
		result(out, pwrite(fd, &n, 8, op->b % 3));
		break;
	default:
		result(out, lseek(fd, (int64_t)op->b >> (op->a % 64), op->a % 7));
	}
}

static void do_poll(struct world *w, const struct operation *op, struct outcome *out)
{
	struct pollfd p = { .fd = w->slot[op->slot].fd, .events = op->a };

	result(out, poll(&p, 1, 0));
	out->value[0] = p.revents;
}

static void do_select(struct world *w, const struct operation *op, struct outcome *out)
{
	int fd = w->slot[op->slot].fd;
	struct timeval none = { 0 };
	fd_set set[3];

	for (int i = 0; i < 3; i++) {
		FD_ZERO(&set[i]);
		if (op->a & 1 << i)
			FD_SET(fd, &set[i]);
	}
	result(out, select(fd + 1, &set[0], &set[1], &set[2], &none));
	for (int i = 0; i < 3; i++)
		out->value[i] = FD_ISSET(fd, &set[i]) != 0;
}

static void do_epoll_ctl(struct world *w, const struct operation *op, struct outcome *out)
{
	static const uint32_t masks[] = {
		EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT, EPOLLIN | EPOLLET,
		EPOLLIN | EPOLLOUT | EPOLLET, EPOLLIN | EPOLLONESHOT,
		EPOLLIN | EPOLLET | EPOLLONESHOT, EPOLLIN | EPOLLEXCLUSIVE,
		EPOLLIN | EPOLLEXCLUSIVE | EPOLLET, EPOLLHUP | EPOLLERR, 0,
	};
	static const int what[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	struct epoll_event e = { .events = PICK(masks, op->a), .data.u64 = op->slot };

	result(out, epoll_ctl(w->epoll[op->b % EPOLLS], PICK(what, op->b / EPOLLS),
			      w->slot[op->slot].fd, &e));
}

static int by_data(const void *a, const void *b)
{
	const struct epoll_event *x = a, *y = b;

	return x->data.u64 < y->data.u64 ? -1 : x->data.u64 > y->data.u64;
}

static void do_epoll_wait(struct world *w, const struct operation *op, struct outcome *out)
{
	struct epoll_event e[8];

	result(out, epoll_wait(w->epoll[op->a % EPOLLS], e, 8, 0));
	if (out->ret > 0)
		qsort(e, out->ret, sizeof(*e), by_data);
	for (int i = 0; i < out->ret; i++)
		out->value[i] = e[i].data.u64 << 32 | e[i].events;
}

static void do_fdinfo(struct world *w, const struct operation *op, struct outcome *out)
{
	int fd = w->slot[op->slot].fd;
	long long semaphore = info(fd, "eventfd-semaphore");

	out->value[0] = info(fd, "eventfd-count");
	out->value[1] = info(fd, "flags");
	/* Before 6.5 eventfd does not say. */
	out->value[2] = semaphore < 0 ? w->slot[op->slot].semaphore : semaphore;
}

static void do_fcntl(struct world *w, const struct operation *op, struct outcome *out)
{
	static const int set[] = { 0, O_NONBLOCK, O_NONBLOCK, O_APPEND, O_ASYNC, O_DIRECT,
				   O_NOATIME, O_NONBLOCK | O_APPEND };
	static const int get[] = { F_GETFL, F_GETFD, F_GETOWN, F_GETSIG, F_GETLEASE,
				   F_GETPIPE_SZ, F_GET_SEALS };
	struct flock lock = { .l_type = op->b & 1 ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET };
	int fd = w->slot[op->slot].fd;

	switch (op->a % 6) {
	case 0:
	case 1:
		result(out, fcntl(fd, F_SETFL, PICK(set, op->b)));
		break;
	case 2:
		result(out, fcntl(fd, F_SETFD, op->b & 1));
		break;
	case 3:
		result(out, fcntl(fd, F_SETLK, &lock));
		break;
	case 4:
		result(out, fcntl(fd, F_SETLEASE, op->b & 1 ? F_RDLCK : F_UNLCK));
		break;
	default:
		result(out, fcntl(fd, PICK(get, op->b)));
	}
	out->value[0] = fcntl(fd, F_GETFL);
	out->value[1] = fcntl(fd, F_GETFD);
}

static void do_ioctl(struct world *w, const struct operation *op, struct outcome *out)
{
	static const unsigned long known[] = { FIONBIO, FIONREAD, FIOASYNC, FIOCLEX, FIONCLEX,
					       TIOCGWINSZ };
	int arg[64] = { op->b & 1 };
	unsigned int cmd = op->a & 3 ? PICK(known, op->b >> 8) : op->b;

	/* What reventfd adds to eventfd. */
	if (_IOC_TYPE(cmd) == 0xEF || _IOC_TYPE(cmd) == 'E')
		cmd = TIOCGWINSZ;
	result(out, ioctl(w->slot[op->slot].fd, cmd, op->a & 8 ? bad_pointer : arg));
}

static void do_other_calls(struct world *w, const struct operation *op, struct outcome *out)
{
	int fd = w->slot[op->slot].fd;
	struct stat st;
	loff_t off = 0;
	void *map;

	switch (op->a % 12) {
	case 0:
		result(out, splice(fd, NULL, w->pipe[1], NULL, 8, SPLICE_F_NONBLOCK));
		break;
	case 1:
		result(out, write(w->pipe[1], "12345678", 8));
		result(out, splice(w->pipe[0], NULL, fd, NULL, 8, SPLICE_F_NONBLOCK));
		break;
	case 2:
		result(out, sendfile(fd, w->pipe[0], NULL, 8));
		break;
	case 3:
		result(out, sendfile(w->pipe[1], fd, &off, 8));
		break;
	case 4:
		map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		result(out, map == MAP_FAILED ? -1 : 0);
		break;
	case 5:
		result(out, op->b & 1 ? fsync(fd) : fdatasync(fd));
		break;
	case 6:
		result(out, ftruncate(fd, op->b % 9));
		break;
	case 7:
		result(out, posix_fallocate(fd, 0, 8));
		break;
	case 8:
		/* Shared: both worlds' files have the one inode of all such files. */
		result(out, flock(fd, op->b & 1 ? LOCK_SH | LOCK_NB : LOCK_UN));
		break;
	case 9:
		result(out, posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM));
		break;
	case 10:
		result(out, copy_file_range(fd, NULL, w->pipe[1], NULL, 8, 0));
		break;
	default:
		result(out, fstat(fd, &st));
		out->value[0] = st.st_mode;
		out->value[1] = st.st_size;
		out->value[2] = st.st_nlink;
	}
}

/* Replaces the descriptor with another for the same counter. */
static void do_dup(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	int fd = op->a & 1 ? dup(s->fd) : fcntl(s->fd, F_DUPFD_CLOEXEC, 0);

	if (descriptor(out, fd) < 0)
		return;
	move_in(s, fd, true);
}

static void do_pass(struct world *w, const struct operation *op, struct outcome *out)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x';
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	struct slot *s = &w->slot[op->slot];
	int fd;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &s->fd, sizeof(int));
	result(out, sendmsg(w->socket[0], &m, 0));
	close(s->fd);
	m.msg_controllen = sizeof(control);
	if (recvmsg(w->socket[1], &m, 0) != 1)
		abort();
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	move_in(s, fd, false);
}

static void do_fork(struct world *w, const struct operation *op, struct outcome *out)
{
	struct slot *s = &w->slot[op->slot];
	int status;
	pid_t child;

	if (write_would_sleep(s, 1, out))
		return;
	child = fork();
	if (!child)
		_exit(put(s->fd, 1) == 8 ? 0 : errno);
	waitpid(child, &status, 0);
	out->ret = status;
	if (!status)
		s->count++;
}

typedef void (*operator)(struct world *w, const struct operation *op, struct outcome *out);

static const struct {
	const char *name;
	operator run;
	int weight;
} table[] = {
	{ "create", do_create, 20 },
	{ "write", do_write, 200 },
	{ "read", do_read, 120 },
	{ "bad pointer", do_bad_pointer, 15 },
	{ "readv", do_readv, 50 },
	{ "writev", do_writev, 50 },
	{ "pread, pwrite, lseek", do_positions, 15 },
	{ "poll", do_poll, 100 },
	{ "select", do_select, 20 },
	{ "epoll_ctl", do_epoll_ctl, 100 },
	{ "epoll_wait", do_epoll_wait, 200 },
	{ "fdinfo", do_fdinfo, 10 },
	{ "fcntl", do_fcntl, 50 },
	{ "ioctl", do_ioctl, 20 },
	{ "other calls", do_other_calls, 20 },
	{ "dup", do_dup, 15 },
	{ "pass", do_pass, 5 },
	{ "fork", do_fork, 1 },
};

void choose_operation(struct dice *dice, struct operation *op)
{
	int total = 0, at;

	for (size_t i = 0; i < COUNT(table); i++)
		total += table[i].weight;
	at = below(dice, total);
	for (op->code = 0; at >= table[op->code].weight; op->code++)
		at -= table[op->code].weight;
	op->slot = below(dice, SLOTS);
	op->a = roll(dice);
	op->b = roll(dice);
}

void operate(struct world *w, const struct operation *op, struct outcome *out)
{
	memset(out, 0, sizeof(*out));
	table[op->code].run(w, op, out);
}

void print_operation(const struct operation *op)
{
	printf("#   %-20s counter %u, 0x%llx 0x%llx\n", table[op->code].name, op->slot,
	       (unsigned long long)op->a, (unsigned long long)op->b);
}

void print_outcome(const char *whose, const struct outcome *out)
{
	printf("#     %-9s %lld %s", whose, (long long)out->ret,
	       out->err ? strerrorname_np(out->err) : "");
	for (int i = 0; i < VALUES; i++)
		if (out->value[i])
			printf(" [%d]=0x%llx", i, (unsigned long long)out->value[i]);
	printf("\n");
}
