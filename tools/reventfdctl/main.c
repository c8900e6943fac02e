// SPDX-License-Identifier: GPL-2.0
/* reventfdctl: looks at the counters of a running system, and tunes them. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "reventfdctl.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "list", command_list },
	{ "top", command_top },
	{ "set", command_set },
	{ "stat", command_stat },
	{ "export", command_export },
};

static const char doc[] =
	"Looks at a running system's eventfds and reventfds, and limits reventfds' wakeups.\v\n"
	"Commands:\n"
	"  list       lists every descriptor\n"
	"  top        shows rates, live\n"
	"  set        sets or lifts a limit\n"
	"  stat       shows all of one descriptor\n"
	"  export     prints it all for Prometheus\n"
	"\n"
	"'reventfdctl COMMAND --help' tells more; so does reventfdctl(8).";

const char *argp_program_version = "reventfdctl " REVENTFD_VERSION;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	int *first = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		/* What follows is the command's own. */
		*first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which command?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse, .args_doc = "COMMAND [ARGUMENT...]", .doc = doc,
	};
	int first = argc, status;
	const char *name;

	argp_err_exit_status = USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &first);
	name = argv[first];
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name))
			continue;
		argv[first] = formatted("reventfdctl %s", name);
		status = commands[i].run(argc - first, argv + first);
		/* A full disk, or a reader that has gone. */
		if ((fflush(stdout) || ferror(stdout)) && !status)
			status = failed("cannot write: %m");
		return status;
	}
	failed("there is no command '%s'", name);
	hint("'reventfdctl --help' names those there are.");
	return USAGE;
}
