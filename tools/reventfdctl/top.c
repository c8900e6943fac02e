// SPDX-License-Identifier: GPL-2.0
/* reventfdctl top: rates, on a screen (screen.c) or line after line. */
#include <argp.h>
#include <limits.h>

#include "reventfdctl.h"

struct top_options {
	bool batch;
	bool json;
	unsigned long long iterations;
	double delay;
	char sort;
};

static const struct argp_option options[] = {
	{ "batch", 'b', NULL, 0, "Print instead of taking the screen", 0 },
	{ "iterations", 'n', "N", 0, "With -b: end after N times", 0 },
	{ "delay", 'd', "SECONDS", 0, "Time from one look to the next (default: 1)", 0 },
	{ "sort", 's', "KEY", 0,
	  "w writes, r reads, k wakeups (the default), d deferred, c count, i id, p pid", 0 },
	{ "json", 'j', NULL, 0, "With -b: print JSON, an object a time", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top_options *o = state->input;

	switch (key) {
	case 'b':
		o->batch = true;
		return 0;
	case 'n':
		o->iterations = parse_number(state, "--iterations", arg, UINT32_MAX);
		return 0;
	case 'd':
		o->delay = parse_seconds(state, "--delay", arg);
		return 0;
	case 's':
		o->sort = arg[0];
		if (!rates_sort(&(struct rates) { 0 }, arg[0]) || arg[1])
			argp_error(state, "--sort must be one of the letters %s, not '%s'",
				   SORT_KEYS, arg);
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case ARGP_KEY_END:
		if (!o->batch && (o->iterations || o->json))
			argp_error(state, "--iterations and --json go with --batch");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print(struct rates *rates, const struct top_options *o)
{
	struct table table;

	if (o->json) {
		json_rates(rates);
		return;
	}
	rates_table(rates, &table);
	table_print(&table, stdout);
	table_free(&table);
}

static int batch(const struct top_options *o)
{
	struct sampler *sampler = sampler_new();
	struct rates rates;

	for (unsigned long long i = 0; !o->iterations || i < o->iterations; i++) {
		pause_for(o->delay);
		sampler_next(sampler, &rates);
		rates_sort(&rates, o->sort);
		if (i && !o->json)
			putchar('\n');
		print(&rates, o);
		rates_free(&rates);
		if (fflush(stdout))
			return failed("cannot write: %m");
	}
	return 0;
}

int command_top(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse,
		.doc = "Shows what every reventfd does, per second.",
	};
	struct top_options o = { .delay = 1, .sort = 'k' };

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return o.batch ? batch(&o) : screen_run(o.delay, o.sort);
}
