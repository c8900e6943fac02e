// SPDX-License-Identifier: GPL-2.0
/* The calls that hostile.c makes, and which answers to them are documented. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "hostile.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open	434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd	438
#endif

#define ANSWERS(...) ((const int[]){ EBADF, __VA_ARGS__, 0 })

/*
 * A slot may be closed at any instant, or hold an O_PATH descriptor or one of
 * the other access mode: EBADF is always an answer. @how goes into the report.
 */
static void expect(const char *what, bool good, unsigned long how, const int *answers)
{
	int err = errno, at;

	errno = 0;
	atomic_fetch_add(&ledger->calls, 1);
	if (good)
		return;
	for (; *answers; answers++)
		if (*answers == err)
			return;
	at = atomic_fetch_add(&ledger->failures, 1);
	if (at < REPORTS)
		snprintf(ledger->report[at], REPORT_SIZE, "%s (%#lx): %s", what, how,
			 err ? strerror(err) : "should have been refused");
}

static int slot(struct thread *t)
{
	return SLOT_FIRST + below(&t->dice, SLOTS);
}

/* Puts @fd, if it is one, in a slot, whatever was there. */
static void keep(struct thread *t, int fd)
{
	if (fd < 0)
		return;
	dup3(fd, slot(t), below(&t->dice, 2) ? O_CLOEXEC : 0);
	close(fd);
}

static void *pointer(struct thread *t)
{
	switch (below(&t->dice, 10)) {
	case 0:
		return NULL;
	case 1:
		return bad_pointer;
	case 2:
		return memory.read_only + below(&t->dice, 64);
	case 3:
		return memory.no_access;
	case 4:
		return memory.racing + below(&t->dice, 3) * 4;
	case 5:
		return (char *)memory.no_access - below(&t->dice, 48);
	case 6:
		return (void *)(uintptr_t)roll(&t->dice);
	case 7:
		return (void *)(uintptr_t)(roll(&t->dice) | 1ULL << 63);
	default:
		return memory.good + below(&t->dice, 9);
	}
}

static uint64_t number(struct thread *t)
{
	switch (below(&t->dice, 5)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - below(&t->dice, 3);
	case 2:
		return roll(&t->dice);
	default:
		return 1 + below(&t->dice, 4);
	}
}

static size_t size(struct thread *t)
{
	static const size_t sizes[] = { 0, 1, 4, 7, 8, 8, 8, 8, 9, 16, 4096, SIZE_MAX, 1UL << 31 };

	return sizes[below(&t->dice, sizeof(sizes) / sizeof(*sizes))];
}

static int vector(struct thread *t, struct iovec *v)
{
	int n = below(&t->dice, 4);

	for (int i = 0; i < n; i++)
		v[i] = (struct iovec){ pointer(t), size(t) };
	return n;
}

static void reading(struct thread *t)
{
	static const int flags[] = { 0, RWF_NOWAIT, RWF_HIPRI, RWF_APPEND, 0x1000 };
	int how = below(&t->dice, 4), fd = slot(t);
	struct iovec v[4];
	ssize_t got;

	if (how == 0)
		got = pread(fd, pointer(t), 8, below(&t->dice, 3));
	else if (how == 1)
		got = readv(fd, v, vector(t, v));
	else if (how == 2)
		got = preadv2(fd, v, vector(t, v), -1, flags[below(&t->dice, 5)]);
	else
		got = read(fd, pointer(t), size(t));
	/* A vector of nothing reads nothing, without asking the file. */
	expect("read", got == 8 || (how && how < 3 && !got), how,
	       ANSWERS(EINVAL, EAGAIN, EFAULT, EINTR, ESPIPE, EOPNOTSUPP));
}

static void writing(struct thread *t)
{
	static const int flags[] = { 0, RWF_NOWAIT, RWF_DSYNC, RWF_APPEND, 0x1000 };
	int how = below(&t->dice, 4), fd = slot(t);
	struct iovec v[4];
	ssize_t put;

	*(volatile uint64_t *)memory.good = number(t);
	if (how == 0)
		put = pwrite(fd, pointer(t), 8, below(&t->dice, 3));
	else if (how == 1)
		put = writev(fd, v, vector(t, v));
	else if (how == 2)
		put = pwritev2(fd, v, vector(t, v), -1, flags[below(&t->dice, 5)]);
	else
		put = write(fd, pointer(t), size(t));
	expect("write", put == 8 || (how && how < 3 && put >= 0 && put <= 32 && !(put % 8)), how,
	       ANSWERS(EINVAL, EAGAIN, EFAULT, EINTR, ESPIPE, EOPNOTSUPP));
}

static void compose(struct thread *t, void *to)
{
	struct reventfd_create create = {
		.count = number(t),
		.flags = (below(&t->dice, 4) ? EFD_NONBLOCK : 0) |
			 (below(&t->dice, 4) ? 0 : EFD_SEMAPHORE) |
			 (below(&t->dice, 2) ? REVENTFD_SHARDED : 0) |
			 (below(&t->dice, 8) ? 0 : (uint32_t)roll(&t->dice)),
		.pad = !below(&t->dice, 8),
	};
	struct reventfd_limit limit = {
		.rate = below(&t->dice, 2) ? 1000000000 - below(&t->dice, 3) : number(t),
		.burst = number(t),
		.flags = below(&t->dice, 3),
		.pad = !below(&t->dice, 8),
	};

	/* Half of them with something beyond what the kernel knows. */
	memset((char *)to + sizeof(create), !below(&t->dice, 2), AREA / 2);
	if (below(&t->dice, 2))
		memcpy(to, &create, sizeof(create));
	else
		memcpy(to, &limit, sizeof(limit));
}

static void commanding(struct thread *t)
{
	static const unsigned int known[] = {
		REVENTFD_IOC_CREATE, REVENTFD_IOC_SET_LIMIT, REVENTFD_IOC_GET_LIMIT,
		REVENTFD_IOC_GET_STATS, EFD_IOC_SET_QOS, EFD_IOC_GET_QOS,
	};
	unsigned int first = known[below(&t->dice, 6)], cmd = first, bare;
	bool qos = _IOC_TYPE(first) == 'E', creates;
	int ret;

	compose(t, memory.good);
	if (!below(&t->dice, 3))
		cmd = (cmd & ~IOCSIZE_MASK) | below(&t->dice, 1 << _IOC_SIZEBITS) << _IOC_SIZESHIFT;
	if (!below(&t->dice, 8))
		cmd ^= 1U << below(&t->dice, 32);
	bare = cmd & ~IOCSIZE_MASK;
	ret = ioctl(slot(t), cmd, pointer(t));

	if (qos ? cmd != first : bare != (first & ~IOCSIZE_MASK)) {
		/* A flipped bit may make one known command of another. */
		for (int i = 0; i < 6; i++)
			if (cmd == known[i] || (i < 4 && bare == (known[i] & ~IOCSIZE_MASK)))
				goto is_known;
		expect("unknown command", false, cmd, ANSWERS(ENOTTY));
		return;
	}
is_known:
	creates = bare == (REVENTFD_IOC_CREATE & ~IOCSIZE_MASK);
	expect("command", creates ? ret >= 0 : !ret, cmd,
	       creates || bare == (REVENTFD_IOC_SET_LIMIT & ~IOCSIZE_MASK) ?
	       ANSWERS(EFAULT, EINVAL, E2BIG) : ANSWERS(EFAULT, EINVAL));
	if (creates)
		keep(t, ret);
}

/* What the kernel answers for any file of this kind. */
static void foreign_commands(struct thread *t)
{
	int on = below(&t->dice, 2), fd = slot(t), how = below(&t->dice, 3);

	if (how == 0)
		expect("FIOASYNC", !ioctl(fd, FIOASYNC, &on) && !on, on, ANSWERS(ENOTTY));
	else if (how == 1)
		expect("FIONREAD", false, ioctl(fd, FIONREAD, memory.good), ANSWERS(ENOTTY));
	else
		expect("FIONBIO", !ioctl(fd, FIONBIO, &on), on, ANSWERS(ENOTTY));
}

static void polling(struct thread *t)
{
	struct pollfd p[2] = {
		{ .fd = slot(t), .events = roll(&t->dice) },
		{ .fd = slot(t), .events = POLLIN },
	};
	int n = poll(p, 2, below(&t->dice, 2));
	short seen = p[0].revents | p[1].revents;

	seen = n < 0 ? 0 : seen & ~(POLLIN | POLLOUT | POLLERR | POLLNVAL);
	expect("poll", n >= 0 && !seen, seen, ANSWERS(EINTR));
}

static void epolling(struct thread *t)
{
	struct epoll_event e = { .events = roll(&t->dice) & ~EPOLLWAKEUP }, got[4];
	static const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	int op = ops[below(&t->dice, 4)];

	if (below(&t->dice, 3))
		e.events &= ~EPOLLEXCLUSIVE;
	/* An O_PATH descriptor is no file to epoll; one of another number may be there. */
	expect("epoll_ctl", !epoll_ctl(t->epoll, op, slot(t), &e), op,
	       ANSWERS(EEXIST, ENOENT, EINVAL));
	expect("epoll_wait", epoll_wait(t->epoll, got, 4, 0) >= 0, 0, ANSWERS(EINTR));
}

static void making(struct thread *t)
{
	static const int flags[] = { 0, O_NONBLOCK, EFD_SEMAPHORE | O_NONBLOCK, O_CLOEXEC };
	enum kind kind = OPENED + below(&t->dice, 3);
	int how = flags[below(&t->dice, 4)];
	int fd = counter(kind, kind == OPENED ? how & ~EFD_SEMAPHORE : how);

	expect("make", fd >= 0, kind, ANSWERS(EINTR));
	keep(t, fd);
}

static void copying(struct thread *t)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_PATH, O_RDWR | O_NONBLOCK };
	int fd = slot(t), to = slot(t), mode = modes[below(&t->dice, 5)];
	char path[64];

	switch (below(&t->dice, 4)) {
	case 0:
		expect("dup3", dup3(fd, to, 0) == to, fd, ANSWERS(EINVAL, EBUSY, EINTR));
		break;
	case 1:
		expect("close", !close(fd), fd, ANSWERS(EINTR));
		break;
	case 2:
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		fd = open(path, mode | O_CLOEXEC);
		/* What has no path cannot be opened again. */
		expect("open again", fd >= 0, mode, ANSWERS(ENOENT, ENXIO, EACCES, EINTR));
		keep(t, fd);
		break;
	default:
		fd = fcntl(fd, F_DUPFD_CLOEXEC, SLOT_FIRST + SLOTS);
		expect("F_DUPFD", fd >= 0, 0, ANSWERS(EINVAL));
		keep(t, fd);
	}
}

static void passing(struct thread *t)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec v = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd = slot(t);

	control.header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int)),
	};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	expect("send", sendmsg(t->socket[0], &m, MSG_DONTWAIT) == 1, fd,
	       ANSWERS(EAGAIN, ETOOMANYREFS));
	/* Some stay in the socket, and are closed with it. */
	if (!below(&t->dice, 3))
		return;
	m.msg_controllen = sizeof(control);
	if (recvmsg(t->socket[1], &m, MSG_DONTWAIT) == 1 && m.msg_controllen) {
		memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
		keep(t, fd);
	}
}

static void fetching(struct thread *t)
{
	pid_t whom = below(&t->dice, 2) ? getpid() : getppid();
	int pidfd = syscall(SYS_pidfd_open, whom, 0);
	int fd = syscall(SYS_pidfd_getfd, pidfd, slot(t), 0);

	expect("pidfd_getfd", fd >= 0, whom, ANSWERS(EINTR));
	keep(t, fd);
	close(pidfd);
}

static void mapping(struct thread *t)
{
	int protection = below(&t->dice, 4), how = below(&t->dice, 2) ? MAP_SHARED : MAP_PRIVATE;
	void *at = mmap(NULL, 4096, protection, how, slot(t), 0);

	expect("mmap", false, at != MAP_FAILED, ANSWERS(ENODEV, EACCES));
}

static void controlling(struct thread *t)
{
	struct flock lock = { .l_type = below(&t->dice, 3), .l_whence = SEEK_SET, .l_len = 1 };
	int fd = slot(t), flags;

	switch (below(&t->dice, 6)) {
	case 0:
		lock.l_len = fcntl(fd, F_SETLEASE, (int)lock.l_type);
		expect("F_SETLEASE", false, lock.l_len, ANSWERS(EINVAL));
		break;
	case 1:
		expect("F_SETLK", !fcntl(fd, F_SETLK, &lock), 0, ANSWERS(EAGAIN, EACCES));
		break;
	case 2:
		expect("F_OFD_SETLK", !fcntl(fd, F_OFD_SETLK, &lock), 0,
		       ANSWERS(EINVAL, EAGAIN, EACCES));
		break;
	case 3:
		expect("flock", !flock(fd, LOCK_SH << below(&t->dice, 2) | LOCK_NB), 0,
		       ANSWERS(EWOULDBLOCK, EINTR));
		break;
	case 4:
		expect("F_SETOWN", !fcntl(fd, F_SETOWN, getpid()), 0, ANSWERS(ESRCH));
		break;
	default:
		/* Taken, but O_ASYNC stays off. */
		flags = below(&t->dice, 2) ? O_ASYNC : O_ASYNC | O_NONBLOCK;
		expect("F_SETFL", !fcntl(fd, F_SETFL, flags), 0, ANSWERS(EINTR));
		flags = fcntl(fd, F_GETFL);
		expect("F_GETFL", flags >= 0 && !(flags & O_ASYNC), flags, ANSWERS(EINTR));
	}
}

static void mistaking(struct thread *t)
{
	int fd = slot(t);

	switch (below(&t->dice, 5)) {
	case 0:
		expect("lseek", !lseek(fd, 9, below(&t->dice, 3)), 0, ANSWERS(EINTR));
		break;
	case 1:
		expect("ftruncate", false, ftruncate(fd, 1), ANSWERS(EINVAL));
		break;
	case 2:
		expect("fsync", false, fsync(fd), ANSWERS(EINVAL));
		break;
	case 3:
		expect("splice", false, splice(fd, NULL, t->pipe[1], NULL, 8, SPLICE_F_NONBLOCK),
		       ANSWERS(EINVAL));
		break;
	default:
		expect("fallocate", false, fallocate(fd, 0, 0, 1), ANSWERS(ENODEV));
	}
}

static void describing(struct thread *t)
{
	char path[64], text[1024];
	int fd = slot(t), n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	fd = open(path, O_RDONLY);
	expect("open fdinfo", fd >= 0, 0, ANSWERS(ENOENT));
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	expect("read fdinfo", n > 0, n, ANSWERS(ENOENT));
	text[n > 0 ? n : 0] = 0;
	/* An O_PATH descriptor has nothing to tell beside its flags. */
	expect("fdinfo", n <= 0 || !strstr(text, "eventfd-id") || strstr(text, "reventfd-shards: "),
	       0, ANSWERS(EINTR));
	close(fd);
}

static void *a_short_life(void *arg)
{
	struct thread *t = arg;

	for (int i = 0; i < 4; i++) {
		reading(t);
		writing(t);
	}
	return NULL;
}

/* Threads that come and go, and processes that die with a thread in a call. */
static void living(struct thread *t)
{
	struct thread one = { .dice = { roll(&t->dice) } };
	sigset_t all, before;
	pthread_t thread;
	pid_t child;

	/* A fork that signals interrupt begins again, without end. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	child = below(&t->dice, 3) ? -1 : fork();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (child > 0) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		return;
	}
	if (pthread_create(&thread, NULL, a_short_life, &one))
		abort();
	if (!child)
		kill(getpid(), SIGKILL);
	pthread_join(thread, NULL);
}

/* What goes in is added up, and what comes out. */
static void banking(struct thread *t)
{
	int which = below(&t->dice, KEPT), fd = KEPT_FIRST + which;
	uint64_t n = below(&t->dice, 1000);

	switch (below(&t->dice, 8)) {
	case 0:
		expect("limit", !limit(fd, below(&t->dice, 1000000001), 1 + below(&t->dice, 9),
				       below(&t->dice, 2)), 0, ANSWERS(EINTR));
		break;
	case 1:
		n = get(fd);
		if ((int64_t)n > 0) {
			atomic_fetch_add(&ledger->taken[which], n);
			atomic_fetch_add(&ledger->reads[which], 1);
		}
		break;
	case 2:
		polled(fd);
		break;
	case 3:
		ioctl(fd, below(&t->dice, 2) ? REVENTFD_IOC_SET_LIMIT : REVENTFD_IOC_GET_STATS,
		      pointer(t));
		break;
	default:
		if (put(fd, n) == 8) {
			atomic_fetch_add(&ledger->added[which], n);
			atomic_fetch_add(&ledger->writes[which], 1);
		}
	}
}

void hostile_call(struct thread *t)
{
	static void (*const calls[])(struct thread *t) = {
		reading, reading, writing, writing, commanding, commanding, commanding, polling,
		epolling, making, copying, copying, passing, fetching, mapping, controlling,
		mistaking, describing, foreign_commands, banking, banking, banking,
	};

	/* What was left by a call that succeeds is not taken for an answer. */
	errno = 0;
	if (!below(&t->dice, 200))
		living(t);
	else
		calls[below(&t->dice, sizeof(calls) / sizeof(*calls))](t);
}
