// SPDX-License-Identifier: GPL-2.0
/*
 * reventfdctl set: tunes a counter of a program that knows nothing of it. The
 * descriptor is borrowed through a pidfd, looked at, and only then commanded:
 * our numbers may mean something else to another driver.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/reventfd.h>

#include "reventfdctl.h"

struct set_options {
	struct process process;
	int fd;
	bool has_rate;
	bool has_burst;
	struct reventfd_limit limit;
};

static const struct argp_option options[] = {
	{ "rate", 'r', "RATE", 0, "At most RATE wakeups a second; 0 lifts the limit", 0 },
	{ "burst", 'b', "BURST", 0,
	  "BURST wakeups may follow each other at once (default: 1)", 0 },
	{ "wake-only", 'w', NULL, 0, "Limit the wakeups only: poll() always tells the truth", 0 },
	{ 0 },
};

static void check(struct argp_state *state, struct set_options *o)
{
	if (state->arg_num < 2)
		argp_error(state, "which PID and which FD?");
	if (!o->has_rate)
		argp_error(state, "which --rate?");
	if (!o->limit.rate && (o->has_burst || o->limit.flags))
		argp_error(state, "--rate 0 lifts the limit: it goes with no other option");
	if (o->limit.rate && !o->has_burst)
		o->limit.burst = 1;
	if (o->limit.rate && !o->limit.burst)
		argp_error(state, "--burst must be at least 1: with less, nobody is ever woken");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct set_options *o = state->input;

	switch (key) {
	case 'r':
		o->has_rate = true;
		o->limit.rate = parse_number(state, "--rate", arg, REVENTFD_RATE_MAX);
		return 0;
	case 'b':
		o->has_burst = true;
		o->limit.burst = parse_number(state, "--burst", arg, UINT32_MAX);
		return 0;
	case 'w':
		o->limit.flags = REVENTFD_LIMIT_WAKE_ONLY;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			o->process.pid = parse_number(state, "PID", arg, INT_MAX);
		else if (state->arg_num == 1)
			o->fd = parse_number(state, "FD", arg, INT_MAX);
		else
			argp_error(state, "one PID and one FD, no more");
		return 0;
	case ARGP_KEY_END:
		check(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* 0 to 3, or -1 where the kernel has no Yama. */
static int yama_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
	int scope = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &scope) != 1)
		scope = -1;
	fclose(file);
	return scope;
}

static void say_what_is_needed(void)
{
	int scope = yama_scope();

	hint("It takes what ptrace(2) takes to attach to the process, see pidfd_getfd(2):");
	if (scope >= 3)
		hint("here nobody can: kernel.yama.ptrace_scope is 3 until the next boot.");
	else if (scope == 2)
		hint("CAP_SYS_PTRACE, as kernel.yama.ptrace_scope is 2. Try it with sudo.");
	else if (scope == 1)
		hint("CAP_SYS_PTRACE, or to be the same user and to have started it, as\n"
		     "  kernel.yama.ptrace_scope is 1. Try it with sudo.");
	else
		hint("CAP_SYS_PTRACE, or to be the same user. Try it with sudo.");
}

static int not_borrowed(const struct set_options *o, int err, const char *name)
{
	switch (err) {
	case ESRCH:
		return failed("no such process: %d", o->process.pid);
	case EBADF:
		failed("process %d (%s) has no descriptor %d", o->process.pid, name, o->fd);
		hint("'reventfdctl list %d' shows its counters.", o->process.pid);
		return FAILED;
	case EPERM:
		failed("no permission to take descriptor %d of process %d (%s)", o->fd,
		       o->process.pid, name);
		say_what_is_needed();
		return FAILED;
	default:
		return failed("cannot take descriptor %d of process %d (%s): %s", o->fd,
			      o->process.pid, name, strerror(err));
	}
}

/* Return: a descriptor of our own for theirs, or the negative of an errno. */
static int borrow(struct set_options *o)
{
	int pidfd, fd, proc, err;

	/* 0 means oneself to some calls, a group to others, and no process here. */
	pidfd = o->process.pid ? syscall(SYS_pidfd_open, o->process.pid, 0) : -1;
	/*
	 * A thread that is not its process's first has no number here: EINVAL, and
	 * from Linux 6.15 on ENOENT.
	 */
	if (pidfd < 0)
		return !o->process.pid || errno == EINVAL || errno == ENOENT ? -ESRCH : -errno;
	proc = process_open(o->process.pid);
	if (proc >= 0) {
		process_name(proc, &o->process);
		close(proc);
	}
	fd = syscall(SYS_pidfd_getfd, pidfd, o->fd, 0);
	err = -errno;
	close(pidfd);
	return fd < 0 ? err : fd;
}

static int not_ours(const struct set_options *o, int fd, const char *name,
		    const struct state *state)
{
	char path[32], link[PATH_MAX], text[TEXT_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = 0;
	failed("descriptor %d of process %d (%s) is not a reventfd, but %s", o->fd,
	       o->process.pid, name, printable(link, text, sizeof(text)));
	if (state->id >= 0)
		hint("An eventfd's wakeups cannot be limited. Started with reventfd-run(1), the\n"
		     "  program would have a reventfd in its place.");
	else
		hint("'reventfdctl list --reventfd %d' shows its reventfds.", o->process.pid);
	return FAILED;
}

static int command(const struct set_options *o, int fd, const char *name)
{
	char path[32], before[TEXT_MAX], after[TEXT_MAX];
	struct state state;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	err = fdinfo_read(-1, path, &state);
	if (err && err != -ENOTTY)
		return failed("cannot read %s: %s", path, strerror(-err));
	if (err || !state.ours)
		return not_ours(o, fd, name, &state);
	if (state.semaphore == 1) {
		failed("descriptor %d of process %d (%s) is a semaphore", o->fd, o->process.pid,
		       name);
		hint("Each of its events is somebody's: a semaphore has no limit.");
		return FAILED;
	}
	if (ioctl(fd, REVENTFD_IOC_SET_LIMIT, &o->limit))
		return failed("cannot set the limit: %s", strerror(errno));
	limit_text(&state, before, sizeof(before));
	state.rate = o->limit.rate;
	state.burst = o->limit.burst;
	state.wake_only = o->limit.flags & REVENTFD_LIMIT_WAKE_ONLY;
	limit_text(&state, after, sizeof(after));
	printf("reventfd %d, descriptor %d of process %d (%s): limit was %s, is %s\n", state.id,
	       o->fd, o->process.pid, name, before, after);
	return 0;
}

int command_set(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "PID FD --rate=RATE",
		.doc = "Sets, changes or lifts the limit of the reventfd that is descriptor FD of\n"
		       "process PID, for all who share it.",
	};
	struct set_options o = { 0 };
	char name[TEXT_MAX];
	int fd, status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	fd = borrow(&o);
	printable(o.process.command, name, sizeof(name));
	if (fd < 0)
		return not_borrowed(&o, -fd, name);
	status = command(&o, fd, name);
	close(fd);
	return status;
}
