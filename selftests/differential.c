// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's eventfd as the judge. Random sequences of operations run in
 * two worlds, one of eventfds and one of reventfds without a limit, and each
 * return value, errno, mask, edge and value must be the same in both.
 *
 *	differential [-s SEED] [-n OPERATIONS] [-S SEEDS] [-v]
 *
 * By default 100,000 operations for each of 10 seeds; with REVENTFD_SLOW=1 in
 * the environment 10,000.
 *
 * A sequence that differs is shrunk to one from which nothing can be left
 * out, and printed with what each step gave; -s with -S 1 repeats it. What the
 * operations are is in operations.h.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "counter.h"
#include "fuzz.h"
#include "operations.h"

#define LENGTH	200	/* operations in a sequence, which starts from nothing */

static bool verbose;

/* What is said if an operation sleeps for ever. */
static char asleep[160];

static void on_alarm(int sig)
{
	if (write(STDOUT_FILENO, asleep, strlen(asleep)) < 0)
		_exit(2);
	_exit(1);
}

/* The kind that is held against eventfd. */
static enum kind kind;

/* Runs @ops in both worlds. Returns the index of the first difference, or -1. */
static int run(const struct operation *ops, int n, bool print)
{
	struct world judge, ours;
	int different = -1;

	alarm(120);
	world_open(&judge, EVENTFD);
	world_open(&ours, kind);
	for (int i = 0; i < n && different < 0; i++) {
		struct outcome expected, seen;

		if (print)
			print_operation(&ops[i]);
		operate(&judge, &ops[i], &expected);
		operate(&ours, &ops[i], &seen);
		if (print) {
			print_outcome("eventfd", &expected);
			print_outcome("reventfd", &seen);
		}
		if (memcmp(&expected, &seen, sizeof(seen)))
			different = i;
	}
	world_close(&judge);
	world_close(&ours);
	return different;
}

/* Leaves out whatever can be left out, in ever smaller pieces. */
static int shrink(struct operation *ops, int n)
{
	struct operation fewer[LENGTH];

	for (int piece = n / 2; piece > 0; piece /= 2) {
		for (int at = 0; at + piece <= n;) {
			int rest = n - piece;

			memcpy(fewer, ops, at * sizeof(*ops));
			memcpy(fewer + at, ops + at + piece, (rest - at) * sizeof(*ops));
			if (run(fewer, rest, false) < 0) {
				at += piece;
				continue;
			}
			memcpy(ops, fewer, rest * sizeof(*ops));
			n = rest;
		}
	}
	return n;
}

/* Returns how many operations ran, or -1 after a difference. */
static long compare(uint64_t seed, long operations)
{
	struct operation ops[LENGTH];
	struct dice dice = { seed };
	long done;
	int n;

	kind = seed % 2 ? CREATED : SHARDED;
	for (done = 0; done < operations; done += LENGTH) {
		for (n = 0; n < LENGTH; n++)
			choose_operation(&dice, &ops[n]);
		snprintf(asleep, sizeof(asleep),
			 "# asleep: differential -v -S 1 -s %llu -n %ld shows in what\n",
			 (unsigned long long)seed, done + LENGTH);
		n = run(ops, LENGTH, verbose);
		if (n < 0)
			continue;
		n = shrink(ops, n + 1);
		printf("# seed %llu, after %ld operations: shrunk to %d that differ\n",
		       (unsigned long long)seed, done, n);
		run(ops, n, true);
		printf("# to repeat it: differential -S 1 -s %llu -n %ld\n",
		       (unsigned long long)seed, done + LENGTH);
		return -1;
	}
	return done;
}

int main(int argc, char **argv)
{
	long operations = getenv("REVENTFD_SLOW") ? 10000 : 100000, done;
	int seeds = 10, failed = 0, c;
	uint64_t seed = 1;

	while ((c = getopt(argc, argv, "s:n:S:v")) != -1) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			operations = strtol(optarg, NULL, 0);
			break;
		case 'S':
			seeds = atoi(optarg);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			fprintf(stderr,
				"usage: differential [-s SEED] [-n OPERATIONS] [-S SEEDS] [-v]\n");
			return 2;
		}
	}

	signal(SIGALRM, on_alarm);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", seeds);
	for (int i = 0; i < seeds; i++) {
		done = compare(seed + i, operations);
		failed += done < 0;
		printf("%sok %d no difference in %ld operations, seed %llu\n",
		       done < 0 ? "not " : "", i + 1, operations, (unsigned long long)(seed + i));
	}
	return failed != 0;
}
