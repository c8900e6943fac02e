// SPDX-License-Identifier: GPL-2.0
/* The commands of calls that try how the calls behave, beside what they return. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "calls.h"

extern char **environ;

static void report_errno(const char *what, int fd)
{
	/* Printing changes it. */
	int seen = errno;

	printf("%s: %s, errno %d\n", what, fd < 0 ? "failed" : "made", seen);
}

/* A success leaves errno alone, a failure sets it. */
int command_errno(char **arg)
{
	errno = 4711;
	report_errno("eventfd", eventfd(0, 0));
	errno = 4711;
	report_errno("eventfd2", syscall(SYS_eventfd2, 0, EFD_SEMAPHORE));
	errno = 4711;
	report_errno("unknown flags", eventfd(0, 0x10));
	errno = 4711;
	report_errno("unknown flags by syscall", syscall(SYS_eventfd2, 0, 0x10));
	return 0;
}

static void allow(rlim_t descriptors)
{
	struct rlimit limit = { descriptors, descriptors };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		perror("setrlimit");
}

/* With one descriptor left, and with none. */
int command_full(char **arg)
{
	int next = dup(0);

	close(next);
	allow(next + 1);
	printf("the last: %s\n", eventfd(0, 0) == next ? "made" : strerrorname_np(errno));
	printf("none: %s\n", eventfd(0, 0) < 0 ? strerrorname_np(errno) : "made");
	return 0;
}

/* The descriptor is the lowest that is free, and nothing else is left open. */
int command_lowest(char **arg)
{
	int first = dup(0), second = dup(0), third = dup(0);

	close(first);
	close(third);
	printf("first: %d\n", eventfd(0, 0) - first);
	printf("then: %d\n", eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE) - first);
	printf("second is still open: %d\n", fcntl(second, F_GETFD));
	printf("next: %d\n", dup(0) - first);
	return 0;
}

/* All six arguments and the result of calls that are none of our business. */
int command_passthrough(char **arg)
{
	long page = sysconf(_SC_PAGESIZE);
	int file = memfd_create("passthrough", 0);
	char byte = 'x', *map;

	if (pwrite(file, &byte, 1, page) != 1)
		return 1;
#ifdef SYS_mmap2
	map = (char *)syscall(SYS_mmap2, NULL, page, PROT_READ, MAP_PRIVATE, file, page / 4096);
#else
	map = (char *)syscall(SYS_mmap, NULL, page, PROT_READ, MAP_PRIVATE, file, page);
#endif
	printf("mmap: %c\n", *map);
	printf("getpid: %d\n", syscall(SYS_getpid) == getpid());
	errno = 0;
	printf("close: %ld", syscall(SYS_close, -1));
	printf(" %s\n", strerrorname_np(errno));
	return 0;
}

static void *make_while_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(int *)arg = eventfd(0, 0);
	pthread_testcancel();
	return NULL;
}

/* eventfd(2) is no cancellation point. */
int command_cancel(char **arg)
{
	pthread_t thread;
	void *result;
	int fd = -1;

	pthread_create(&thread, NULL, make_while_cancelled, &fd);
	pthread_join(thread, &result);
	describe("cancelled", fd);
	printf("then: %d\n", result == PTHREAD_CANCELED);
	return 0;
}

#define THREADS 8
#define EACH 60

static int descriptors[THREADS][EACH];

static void *make_many(void *mine)
{
	int *fd = mine;

	for (int i = 0; i < EACH; i++)
		fd[i] = i % 2 ? eventfd(i, 0) : syscall(SYS_eventfd2, i, 0);
	return NULL;
}

/* At once from several threads: each its own descriptor, with its own count. */
int command_threads(char **arg)
{
	pthread_t thread[THREADS];
	int right = 0, highest = 0, lowest = dup(0);

	close(lowest);
	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, make_many, descriptors[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (int t = 0; t < THREADS; t++) {
		for (int i = 0; i < EACH; i++) {
			eventfd_t n = 0;
			int fd = descriptors[t][i];

			if (fd > highest)
				highest = fd;
			/* A count of 0 would block. */
			right += i ? !eventfd_read(fd, &n) && n == (eventfd_t)i : fd >= 0;
		}
	}
	printf("right: %d, used: %d\n", right, highest - lowest + 1);
	describe("one", descriptors[THREADS - 1][EACH - 1]);
	return 0;
}

#define SIGNALS 300

static atomic_int handled;
static pthread_t main_thread;

static void make_in_handler(int signal)
{
	int error = errno, fd = eventfd(0, 0);

	if (fd >= 0 && !close(fd))
		atomic_fetch_add(&handled, 1);
	errno = error;
}

static void *send_signals(void *arg)
{
	while (atomic_load(&handled) < SIGNALS) {
		pthread_kill(main_thread, SIGUSR1);
		sched_yield();
	}
	return NULL;
}

/* From a handler that interrupts the same calls, and the allocator, anywhere. */
int command_signal(char **arg)
{
	static char stack[SIGNALS * 64];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = make_in_handler, .sa_flags = SA_ONSTACK };
	int wrong = 0, fd;
	pthread_t thread;

	main_thread = pthread_self();
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, send_signals, NULL);
	while (atomic_load(&handled) < SIGNALS) {
		free(malloc(100000));
		errno = 4711;
		fd = eventfd(1, 0);
		wrong += fd < 0 || errno != 4711;
		close(fd);
	}
	pthread_join(thread, NULL);
	printf("wrong: %d\n", wrong);
	return 0;
}

/* As daemons do that show what they are at in their command line. */
int command_rename(char **arg)
{
	for (char **e = environ; *e; e++)
		memset(*e, 'x', strlen(*e));
	clearenv();
	describe("renamed", eventfd(0, 0));
	return 0;
}

/* As daemons do that have no use for it: descriptor 2 is something else then. */
int command_stderr(char **arg)
{
	int file = memfd_create("database", 0);

	dup2(file, STDERR_FILENO);
	describe("redirected", eventfd(0, 0));
	printf("written to it: %ld\n", (long)lseek(file, 0, SEEK_END));
	return 0;
}
