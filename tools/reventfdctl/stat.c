// SPDX-License-Identifier: GPL-2.0
/* reventfdctl stat: all there is to know of one descriptor, once or again and again. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "reventfdctl.h"

struct stat_options {
	int numbers[2];
	bool json;
	double watch;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "Print JSON, an object a line", 0 },
	{ "watch", 'w', "SECONDS", OPTION_ARG_OPTIONAL,
	  "Print again every SECONDS (default: 1) until the descriptor is closed", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const names[] = { "PID", "FD" };
	struct stat_options *o = state->input;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case 'w':
		o->watch = arg ? parse_seconds(state, "--watch", arg) : 1;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			argp_error(state, "one PID and one FD, no more");
		o->numbers[state->arg_num] = parse_number(state, names[state->arg_num], arg,
							  INT_MAX);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "which PID and which FD?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_text(const struct descriptor *d)
{
	const struct state *s = &d->state;
	char text[TEXT_MAX];

	printf("pid:          %d\n", d->process.pid);
	printf("command:      %s\n", printable(d->process.command, text, sizeof(text)));
	printf("fd:           %d\n", d->fd);
	printf("kind:         %s\n", s->ours ? "reventfd" : "eventfd");
	printf("id:           %d\n", s->id);
	printf("count:        %llu\n", s->count);
	if (s->semaphore >= 0)
		printf("semaphore:    %s\n", s->semaphore ? "yes" : "no");
	if (!s->ours)
		return;
	printf("limit:        %s\n", limit_text(s, text, sizeof(text)));
	printf("ready:        %s\n", s->ready ? "yes" : "no");
	printf("owed:         %s\n", s->owed ? "yes" : "no");
	printf("writes:       %llu\n", s->writes);
	printf("reads:        %llu\n", s->reads);
	printf("wakeups:      %llu\n", s->wakeups);
	printf("deferred:     %llu\n", s->deferred);
	printf("timer fires:  %llu\n", s->timer_fires);
	printf("shards:       %u\n", s->shards);
}

static int refused(const struct descriptor *d, int err)
{
	char text[TEXT_MAX];

	printable(d->process.command, text, sizeof(text));
	switch (err) {
	case -ENOENT:
		failed("process %d (%s) has no descriptor %d", d->process.pid, text, d->fd);
		hint("Those it has are in /proc/%d/fd.", d->process.pid);
		break;
	case -ENOTTY:
		failed("descriptor %d of process %d (%s) is neither an eventfd nor a reventfd",
		       d->fd, d->process.pid, text);
		hint("'reventfdctl list %d' shows those it has.", d->process.pid);
		break;
	case -EACCES:
	case -EPERM:
		failed("no permission to look into process %d (%s)", d->process.pid, text);
		hint("It is another user's, or one that must not be debugged: try it with sudo.");
		break;
	default:
		failed("cannot read descriptor %d of process %d: %s", d->fd, d->process.pid,
		       strerror(-err));
	}
	return FAILED;
}

/* Whether @err says that it is gone, rather than that something is wrong. */
static bool gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ENOTTY;
}

static int stat_opened(const struct stat_options *o, int proc)
{
	struct descriptor d = { .process = { .pid = o->numbers[0] }, .fd = o->numbers[1] };
	char path[32];
	int err;

	snprintf(path, sizeof(path), "fdinfo/%d", d.fd);
	process_name(proc, &d.process);
	err = fdinfo_read(proc, path, &d.state);
	if (err)
		return refused(&d, err);
	for (;;) {
		if (o->json)
			json_stat(&d);
		else
			print_text(&d);
		/* What is watched through a pipe is wanted now. */
		if (fflush(stdout))
			return failed("cannot write: %m");
		if (!o->watch)
			return 0;
		pause_for(o->watch);
		err = fdinfo_read(proc, path, &d.state);
		if (err)
			return gone(err) ? 0 : refused(&d, err);
		if (!o->json)
			putchar('\n');
	}
}

int command_stat(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "PID FD",
		.doc = "Shows the state of the eventfd or reventfd that is descriptor FD of\n"
		       "process PID.",
	};
	struct stat_options o = { 0 };
	int proc, status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	proc = process_open(o.numbers[0]);
	if (proc < 0)
		return failed("no such process: %d", o.numbers[0]);
	status = stat_opened(&o, proc);
	close(proc);
	return status;
}
