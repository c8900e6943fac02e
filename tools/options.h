/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What reventfd-run tells its library, by way of the environment: a list of
 * words between commas, as in "rate=1000,burst=2,exclude=caller=libvirt".
 */
#ifndef _TOOLS_OPTIONS_H
#define _TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE "/dev/reventfd"

#define OPTIONS_VARIABLE "REVENTFD_RUN"
#define OPTIONS_SIZE 1024
#define RULES_MAX 32

/* Which eventfds are meant: the process's nth, or those that one object makes. */
struct rule {
	unsigned int number;	/* 0: by caller */
	const char *caller;
};

struct rules {
	size_t n;
	struct rule rule[RULES_MAX];
};

struct options {
	uint32_t rate;		/* 0: no limit */
	uint32_t burst;
	bool verbose;
	bool dry_run;
	bool strict;
	bool no_inherit;
	bool warned;		/* the user knows that there is no device */
	struct rules only;	/* none: all */
	struct rules exclude;
};

/* Takes one word, which @o goes on to refer to; false if it makes no sense. */
bool options_word(struct options *o, const char *word);

/*
 * Takes a list, which is cut into its words. Returns the first word that makes
 * no sense, or NULL.
 */
const char *options_parse(struct options *o, char *list);

/* Whether the eventfd with this number, made by this object, is to be replaced. */
bool options_select(const struct options *o, unsigned int number, const char *caller);

/* What to do about the device, which opening it failed with @error; "" if that is unknown. */
const char *device_hint(int error);

/* What follows the last slash. */
const char *file_name(const char *path);

#endif
