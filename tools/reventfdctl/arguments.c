// SPDX-License-Identifier: GPL-2.0
/* Numbers on the command line, and the waiting they ask for. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "reventfdctl.h"

/* A whole number from 0 to @most, or the end of the program. */
unsigned long long parse_number(struct argp_state *state, const char *what, const char *text,
				unsigned long long most)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || n > most)
		argp_error(state, "%s must be a whole number from 0 to %llu, not '%s'",
			   what, most, text);
	return n;
}

/* A time from a hundredth of a second to a day, or the end of the program. */
double parse_seconds(struct argp_state *state, const char *what, const char *text)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end || !(seconds >= 0.01 && seconds <= 86400))
		argp_error(state, "%s must be from 0.01 to 86400 seconds, not '%s'", what, text);
	return seconds;
}

/* In seconds, of the clock that pause_for() waits by. */
double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void pause_for(double seconds)
{
	struct timespec t = {
		.tv_sec = seconds,
		.tv_nsec = fmod(seconds, 1) * 1e9,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}
