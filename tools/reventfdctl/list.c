// SPDX-License-Identifier: GPL-2.0
/* reventfdctl list: every descriptor of every counter. */
#include <argp.h>
#include <limits.h>
#include <stdlib.h>

#include "reventfdctl.h"

struct list_options {
	struct scan scan;
	bool json;
	bool verbose;
	pid_t *pids;
	size_t n_pids;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "reventfd", 'r', NULL, 0, "Leave eventfds out", 0 },
	{ "verbose", 'v', NULL, 0, "Name every process that cannot be looked into", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_options *o = state->input;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case 'r':
		o->scan.only_ours = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		o->pids = grown(o->pids, o->n_pids, sizeof(*o->pids));
		o->pids[o->n_pids++] = parse_number(state, "PID", arg, INT_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_table(const struct scan *scan)
{
	static const struct column columns[] = {
		{ "PID" }, { "FD" }, { "KIND", true }, { "ID" }, { "COUNT" }, { "SEM" },
		{ "LIMIT", true }, { "WRITES" }, { "WAKEUPS" }, { "DEFERRED" },
		{ "COMMAND", true },
	};
	struct table table = {
		.columns = columns, .n_columns = ARRAY_SIZE(columns),
	};
	char text[TEXT_MAX];

	for (size_t i = 0; i < scan->n; i++) {
		const struct descriptor *d = &scan->all[i];
		const struct state *s = &d->state;
		const unsigned long long figures[] = { s->writes, s->wakeups, s->deferred };

		table_cell(&table, "%d", d->process.pid);
		table_cell(&table, "%d", d->fd);
		table_cell(&table, "%s", s->ours ? "reventfd" : "eventfd");
		table_cell(&table, "%d", s->id);
		table_cell(&table, "%llu", s->count);
		table_cell(&table, "%s", s->semaphore < 0 ? "?" : s->semaphore ? "yes" : "no");
		table_cell(&table, "%s", limit_text(s, text, sizeof(text)));
		for (size_t j = 0; j < ARRAY_SIZE(figures); j++)
			if (s->ours)
				table_cell(&table, "%llu", figures[j]);
			else
				table_cell(&table, "-");
		table_cell(&table, "%s", printable(d->process.command, text, sizeof(text)));
	}
	table_print(&table, stdout);
	table_free(&table);
}

static int scan_named(struct list_options *o)
{
	int status = 0;

	for (size_t i = 0; i < o->n_pids; i++)
		if (scan_process(&o->scan, o->pids[i]))
			status = failed("no such process: %d", o->pids[i]);
	free(o->pids);
	return status;
}

int command_list(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "[PID...]",
		.doc = "Lists the eventfds and reventfds of all processes, or of those named.\n"
		       "Descriptors of one KIND with one ID are one counter.",
	};
	struct list_options o = { 0 };
	int status = 0, verdict;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.n_pids)
		status = scan_named(&o);
	else
		scan_everything(&o.scan);
	if (o.json)
		json_list(&o.scan);
	else
		print_table(&o.scan);
	verdict = scan_verdict(&o.scan, o.verbose);
	scan_free(&o.scan);
	return status ? status : verdict;
}
