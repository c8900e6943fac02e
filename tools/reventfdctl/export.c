// SPDX-License-Identifier: GPL-2.0
/*
 * reventfdctl export: for node_exporter's textfile collector, which may read
 * the file at any moment: it is there whole, or as it was.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reventfdctl.h"

struct export_options {
	struct scan scan;
	const char *output;
	bool verbose;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Put it into FILE, which is replaced at once", 0 },
	{ "reventfd", 'r', NULL, 0, "Leave eventfds out", 0 },
	{ "verbose", 'v', NULL, 0, "Name every process that cannot be looked into", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export_options *o = state->input;

	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case 'r':
		o->scan.only_ours = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print(const struct scan *scan, FILE *file)
{
	struct counters counters;

	counters_of(scan, &counters);
	prometheus_print(&counters, scan->n_unreadable, file);
	counters_free(&counters);
}

/* All that is left of a failure is its errno, and no file. */
static int fill(const struct scan *scan, int fd)
{
	/* The collector runs as another user. */
	int err = fchmod(fd, 0644) ? errno : 0;
	FILE *file = fdopen(fd, "w");

	if (!file) {
		err = errno;
		close(fd);
		return err;
	}
	print(scan, file);
	if (fflush(file) || fsync(fd))
		err = errno;
	else if (ferror(file))
		err = EIO;
	if (fclose(file) && !err)
		err = errno;
	return err;
}

/* A device, /dev/null for one, must not become a file because root named it. */
static bool replaceable(const char *path)
{
	struct stat s;

	return lstat(path, &s) || S_ISREG(s.st_mode);
}

static int replace(const struct scan *scan, const char *path)
{
	char *temporary;
	int fd, err;

	if (!replaceable(path)) {
		failed("%s is no regular file, and would be replaced by one", path);
		hint("Without --output it is printed: reventfdctl export >%s", path);
		return FAILED;
	}
	temporary = formatted("%s.XXXXXX", path);
	fd = mkstemp(temporary);
	if (fd < 0) {
		err = errno;
	} else {
		err = fill(scan, fd);
		if (!err && rename(temporary, path))
			err = errno;
		if (err)
			unlink(temporary);
	}
	free(temporary);
	if (!err)
		return 0;
	failed("cannot write %s: %s", path, strerror(err));
	hint("A new file is made beside it first, so its folder must be there and writable.");
	return FAILED;
}

int command_export(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse,
		.doc = "Prints every counter in Prometheus' text format.",
	};
	struct export_options o = { 0 };
	int status = 0, verdict;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	scan_everything(&o.scan);
	if (o.output)
		status = replace(&o.scan, o.output);
	else
		print(&o.scan, stdout);
	verdict = scan_verdict(&o.scan, o.verbose);
	scan_free(&o.scan);
	return status ? status : verdict;
}
