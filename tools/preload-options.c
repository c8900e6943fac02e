// SPDX-License-Identifier: GPL-2.0
/*
 * The options as the library has them: read from the environment once, when
 * the library starts up.
 *
 * Constructors of other libraries may make eventfds before that. For such a
 * call the environment is read anew: there is nothing to wait for, and no state
 * that two threads could share half done.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload.h"

static struct options options;
static atomic_bool ready;

/* The list is copied: programs write over their environment to rename themselves. */
static const char *read_options(struct options *o, char list[OPTIONS_SIZE])
{
	const char *value = getenv(OPTIONS_VARIABLE), *wrong;

	*o = (struct options) { 0 };
	if (!value)
		return NULL;
	if (strlen(value) >= OPTIONS_SIZE)
		return "(too long)";
	memcpy(list, value, strlen(value) + 1);
	wrong = options_parse(o, list);
	if (o->rate && !o->burst)
		o->burst = 1;
	return wrong;
}

const struct options *options_ready(void)
{
	return atomic_load_explicit(&ready, memory_order_acquire) ? &options : NULL;
}

/* Here, so that later calls need none of this room on a signal handler's stack. */
int make_eventfd_early(unsigned int count, int flags, void *address)
{
	char list[OPTIONS_SIZE];
	struct options early;

	read_options(&early, list);
	return make_eventfd(&early, count, flags, address);
}

/* Takes our libraries out of LD_PRELOAD, and leaves what others have there. */
static void leave_environment(void)
{
	const char *preload = getenv("LD_PRELOAD");
	char *rest, *kept, *name, *next;

	unsetenv(OPTIONS_VARIABLE);
	if (!preload)
		return;
	rest = strdup(preload);
	kept = calloc(1, strlen(preload) + 2);
	if (!rest || !kept)
		goto out;
	for (name = strtok_r(rest, ": ", &next); name; name = strtok_r(NULL, ": ", &next)) {
		if (strstr(file_name(name), "libreventfd-") == file_name(name))
			continue;
		if (*kept)
			strcat(kept, ":");
		strcat(kept, name);
	}
	if (*kept)
		setenv("LD_PRELOAD", kept, 1);
	else
		unsetenv("LD_PRELOAD");
out:
	free(rest);
	free(kept);
}

void options_prepare(void)
{
	static char list[OPTIONS_SIZE];
	const char *wrong = read_options(&options, list);
	struct line l;

	if (wrong) {
		line_start(&l);
		line_text(&l, OPTIONS_VARIABLE " holds what makes no sense, which is ignored: ");
		line_text(&l, wrong);
		line_end(&l);
	}
	if (options.no_inherit)
		leave_environment();
	atomic_store_explicit(&ready, true, memory_order_release);
}
