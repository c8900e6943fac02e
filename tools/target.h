/* SPDX-License-Identifier: GPL-2.0 */
/* The program that reventfd-run is to start, looked at from outside. */
#ifndef _TOOLS_TARGET_H
#define _TOOLS_TARGET_H

#include <limits.h>
#include <stdbool.h>

struct target {
	char path[PATH_MAX];	/* what will be executed */
	char file[PATH_MAX];	/* the program in it: of a script, its interpreter */
	bool script;
};

/* Finds @name as execvp(3) does. 0 or a negative errno value. */
int target_find(struct target *t, const char *name);

/* Why the loader would not preload for it; NULL if nothing is known against it. */
const char *target_obstacle(const struct target *t);

#endif
