// SPDX-License-Identifier: GPL-2.0
/*
 * A program that makes eventfds in every way there is, for reventfd-run to be
 * tried on: it knows nothing of reventfd. It prints what it got; the tests,
 * scripts/guest/run-tests, know what that must be.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "calls.h"

static int by_eventfd(unsigned int count, int flags)
{
	return eventfd(count, flags);
}

static int by_eventfd2(unsigned int count, int flags)
{
	return syscall(SYS_eventfd2, count, flags);
}

static int by_the_first_call(unsigned int count, int flags)
{
#ifdef SYS_eventfd
	return syscall(SYS_eventfd, count);
#else
	return eventfd(count, 0);
#endif
}

static int by_dlsym(unsigned int count, int flags)
{
	return ((make_fn)dlsym(RTLD_DEFAULT, "eventfd"))(count, flags);
}

static int by_dlsym_next(unsigned int count, int flags)
{
	return ((make_fn)dlsym(RTLD_NEXT, "eventfd"))(count, flags);
}

/* The one way round a preloaded library that leads through the loader. */
static int by_dlsym_libc(unsigned int count, int flags)
{
	return ((make_fn)dlsym(dlopen("libc.so.6", RTLD_NOW), "eventfd"))(count, flags);
}

static int by_library(unsigned int count, int flags)
{
	return first_eventfd(count, flags);
}

static int by_plugin(unsigned int count, int flags)
{
	void *plugin = dlopen("./libplugin.so.1", RTLD_NOW | RTLD_LOCAL);

	return plugin ? ((make_fn)dlsym(plugin, "plugin_eventfd"))(count, flags) : -1;
}

/* Made before main(), by the constructor of a library. */
static int by_constructor(unsigned int count, int flags)
{
	return first_early;
}

static const struct way {
	const char *name;
	make_fn make;
} ways[] = {
	{ "eventfd", by_eventfd },
	{ "eventfd2", by_eventfd2 },
	{ "old", by_the_first_call },
	{ "dlsym", by_dlsym },
	{ "next", by_dlsym_next },
	{ "libc", by_dlsym_libc },
	{ "library", by_library },
	{ "plugin", by_plugin },
	{ "constructor", by_constructor },
};

static make_fn find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(name, ways[i].name))
			return ways[i].make;
	fprintf(stderr, "calls: no such way: %s\n", name);
	exit(2);
}

void describe(const char *how, int fd)
{
	char path[64], target[64], line[128], count[32] = "?";
	unsigned long long rate = 0, burst = 0;
	ssize_t n;
	FILE *f;

	if (fd < 0) {
		printf("%s: %s\n", how, strerrorname_np(errno));
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "eventfd-count: %31s", count) == 1)
			continue;
		if (sscanf(line, "reventfd-rate: %llu", &rate) == 1)
			continue;
		if (sscanf(line, "reventfd-burst: %llu", &burst) == 1)
			break;
	}
	if (f)
		fclose(f);
	printf("%s: %s count=%s flags=%x cloexec=%d", how, target, count,
	       fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	if (rate)
		printf(" limit=%llu/%llu", rate, burst);
	printf("\n");
}

static int number(const char *text)
{
	return text ? strtol(text, NULL, 0) : 0;
}

/* make WAY [COUNT [FLAGS]] */
static int command_make(char **arg)
{
	int count = number(arg[1]), flags = arg[1] ? number(arg[2]) : 0;

	make_fn make = find_way(arg[0]);

	describe(arg[0], make(count, flags));
	return 0;
}

/* each WAY...: one after the other, all of them kept */
static int command_each(char **arg)
{
	for (; *arg; arg++)
		describe(*arg, find_way(*arg)(0, 0));
	return 0;
}

/* fork: before it, in the child, and in the parent after it */
static int command_fork(char **arg)
{
	pid_t child;

	describe("before", eventfd(0, 0));
	fflush(stdout);
	child = fork();
	if (!child) {
		describe("child", eventfd(0, 0));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	describe("parent", eventfd(0, 0));
	return 0;
}

/* start PROGRAM [ARGUMENT]...: makes one, and so may what it starts */
static int command_start(char **arg)
{
	pid_t child;

	describe("before", eventfd(0, EFD_CLOEXEC));
	fflush(stdout);
	child = fork();
	if (!child) {
		execvp(arg[0], arg);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **arg);
} commands[] = {
	{ "make", command_make },
	{ "each", command_each },
	{ "fork", command_fork },
	{ "start", command_start },
	{ "errno", command_errno },
	{ "full", command_full },
	{ "lowest", command_lowest },
	{ "passthrough", command_passthrough },
	{ "cancel", command_cancel },
	{ "threads", command_threads },
	{ "signal", command_signal },
	{ "rename", command_rename },
	{ "stderr", command_stderr },
	{ "users", command_users },
};

int main(int argc, char **argv)
{
	/* The manual page has a program of this name. */
	if (!strcmp(program_invocation_short_name, "storage"))
		return command_users((char *[]){ "uring", NULL });
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argv + 2);
	fprintf(stderr, "usage: calls COMMAND [ARGUMENT]...\n");
	return 2;
}
