// SPDX-License-Identifier: GPL-2.0
/*
 * reventfd-run: starts a program with libreventfd-preload.so before it, which
 * makes reventfds of the eventfds the program asks for.
 *
 * The program takes this one's place by execve(2), so that its exit status
 * and signals are its own.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "target.h"

/* As env(1), nice(1) and timeout(1) have them. */
#define EXIT_OURS 125
#define EXIT_CANNOT_EXECUTE 126
#define EXIT_NOT_FOUND 127

const char *argp_program_version = "reventfd-run " REVENTFD_VERSION;

static const struct argp_option descriptions[] = {
	{ "rate", 'r', "N", 0, "At most N wakeups per second for each descriptor", 0 },
	{ "burst", 'b', "N", 0, "N wakeups may follow each other at once (default: 1)", 0 },
	{ "only", 'o', "WHICH", 0, "Replaces only these eventfds; may be repeated", 0 },
	{ "exclude", 'x', "WHICH", 0, "Leaves these eventfds alone; may be repeated", 0 },
	{ "verbose", 'v', NULL, 0, "Says on stderr what was replaced, and who refuses it", 0 },
	{ "dry-run", 'n', NULL, 0, "Replaces nothing, says what would be", 0 },
	{ "strict", 's', NULL, 0, "Where no reventfd can be had, fails", 0 },
	{ "no-inherit", 'i', NULL, 0, "Programs that PROGRAM starts are left alone", 0 },
	{ 0 }
};

static const char doc[] =
	"Runs PROGRAM, unchanged, with reventfds instead of its eventfds.\v\n"
	"WHICH is the number of an eventfd in the order in which the process\n"
	"makes them, from 1, or caller=LIB: those that the library LIB makes, or\n"
	"the program of that name. --dry-run shows both.\n\n"
	"Without --rate the descriptors behave as eventfds do, and count.\n"
	"Semaphores are replaced, but not limited.\n\n"
	"Exit status: PROGRAM's; 127 if it is not found, 126 if it cannot be\n"
	"executed, 125 if reventfd-run itself fails.";

struct command {
	struct options options;
	char list[OPTIONS_SIZE];
	char **program;
};

static void add_word(struct command *c, const char *word)
{
	size_t n = strlen(c->list);

	if (n + 1 + strlen(word) >= sizeof(c->list))
		errx(EXIT_OURS, "too many --only and --exclude");
	snprintf(c->list + n, sizeof(c->list) - n, "%s%s", n ? "," : "", word);
}

static const char *what_it_is(const char *key)
{
	if (!strcmp(key, "rate"))
		return "it is a whole number from 1 to 1000000000";
	if (!strcmp(key, "burst"))
		return "it is a whole number from 1 to 4294967295";
	return "it is the number of an eventfd, from 1, or caller=LIB; 32 of them at most";
}

static void add_value(struct command *c, const char *key, const char *value,
		      struct argp_state *state)
{
	char *word;

	/* Not freed: the options refer to it. */
	if (asprintf(&word, "%s=%s", key, value) < 0)
		err(EXIT_OURS, "asprintf");
	if (strchr(value, ',') || !options_word(&c->options, word))
		argp_error(state, "--%s cannot be '%s': %s", key, value, what_it_is(key));
	add_word(c, word);
}

static const char *long_name(int key)
{
	const struct argp_option *d = descriptions;

	while (d->key && d->key != key)
		d++;
	return d->name;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct command *c = state->input;

	switch (key) {
	case 'r':
	case 'b':
	case 'o':
	case 'x':
		add_value(c, long_name(key), value, state);
		return 0;
	case 'v':
	case 'n':
	case 's':
	case 'i':
		options_word(&c->options, long_name(key));
		add_word(c, long_name(key));
		return 0;
	case ARGP_KEY_ARG:
		/* What follows is PROGRAM's. */
		c->program = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		return 0;
	case ARGP_KEY_SUCCESS:
		if (c->options.burst && !c->options.rate)
			argp_error(state, "--burst needs --rate");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The built tree has the libraries beside this program. */
static char *find_library(const char *name)
{
	char own[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	/* Without /proc, too, nothing is to be taken from the working directory. */
	if (n < 0)
		n = snprintf(own, sizeof(own), "/proc/self/exe");
	own[n] = 0;
	if (asprintf(&path, "%.*s%s", (int)(file_name(own) - own), own, name) < 0)
		err(EXIT_OURS, "asprintf");
	if (access(path, R_OK)) {
		free(path);
		if (asprintf(&path, "%s/%s", LIBRARIES, name) < 0)
			err(EXIT_OURS, "asprintf");
	}
	if (access(path, R_OK))
		errx(EXIT_OURS, "cannot find %s beside %s or in %s\n"
		     "  Build it with 'make tools', or install it with 'sudo make install'.",
		     name, own, LIBRARIES);
	if (strpbrk(path, " :"))
		errx(EXIT_OURS, "the loader cannot preload '%s': there is a space or a colon in it",
		     path);
	return path;
}

static void set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1))
		err(EXIT_OURS, "setenv");
}

static void preload(const char *name)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (asprintf(&all, "%s%s%s", find_library(name), others ? ":" : "",
		     others ? others : "") < 0)
		err(EXIT_OURS, "asprintf");
	set("LD_PRELOAD", all);
}

/* Says now what the library would find out at the first eventfd. */
static void check_device(struct command *c)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC), error = errno;
	const char *hint = device_hint(error), *indent = *hint ? "\n  " : "";

	if (fd >= 0) {
		close(fd);
		return;
	}
	if (c->options.strict)
		errx(EXIT_OURS, "cannot open " DEVICE ": %s%s%s", strerror(error), indent, hint);
	warnx("cannot open " DEVICE ", using eventfd(2) instead: %s%s%s", strerror(error), indent,
	      hint);
	add_word(c, "warned");
}

static void check_target(const struct command *c, const struct target *t)
{
	const char *obstacle = target_obstacle(t);

	if (obstacle && c->options.strict)
		errx(EXIT_OURS, "%s would not use the library: %s", t->file, obstacle);
	if (obstacle)
		warnx("%s will not use the library: %s\n"
		      "  Its eventfds stay as they are.", t->file, obstacle);
	if (t->script && c->options.no_inherit && !strcmp(file_name(t->file), "env"))
		warnx("%s is run by env, and with --no-inherit what env starts is left alone\n"
		      "  Name the interpreter itself: reventfd-run -i INTERPRETER %s",
		      t->path, t->path);
}

static void cannot_run(const char *name, int error)
{
	errx(error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE,
	     "cannot run %s: %s", name, strerror(error));
}

int main(int argc, char **argv)
{
	static const struct argp argp = { descriptions, parse, "PROGRAM [ARGUMENT...]", doc };
	static struct command c;
	static struct target t;
	int error;

	argp_err_exit_status = EXIT_OURS;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c);

	error = target_find(&t, c.program[0]);
	if (error)
		cannot_run(c.program[0], -error);
	check_target(&c, &t);
	if (!c.options.dry_run)
		check_device(&c);

	if (c.options.verbose)
		preload("libreventfd-watch.so");
	preload("libreventfd-preload.so");
	set(OPTIONS_VARIABLE, c.list);
	execvp(c.program[0], c.program);
	cannot_run(c.program[0], errno);
}
