// SPDX-License-Identifier: GPL-2.0
/* Which descriptors are the same counter: those of one kind with one id. */
#include <stdlib.h>

#include "reventfdctl.h"

int counter_compare(const struct counter *a, const struct counter *b)
{
	const struct state *s = &a->first.state, *t = &b->first.state;

	if (s->ours != t->ours)
		return s->ours - t->ours;
	return (s->id > t->id) - (s->id < t->id);
}

static int compare(const void *a, const void *b)
{
	const struct counter *c = a, *d = b;
	int order = counter_compare(c, d);

	if (!order)
		order = c->first.process.pid - d->first.process.pid;
	return order ? order : c->first.fd - d->first.fd;
}

void counters_of(const struct scan *scan, struct counters *counters)
{
	struct counter *all = NULL, *last;
	size_t n = 0;

	for (size_t i = 0; i < scan->n; i++) {
		all = grown(all, i, sizeof(*all));
		all[i] = (struct counter) { .first = scan->all[i], .descriptors = 1 };
	}
	if (scan->n)
		qsort(all, scan->n, sizeof(*all), compare);
	for (size_t i = 0; i < scan->n; i++) {
		last = n ? &all[n - 1] : NULL;
		if (last && !counter_compare(last, &all[i]))
			last->descriptors++;
		else
			all[n++] = all[i];
	}
	*counters = (struct counters) { .all = all, .n = n };
}

void counters_free(struct counters *counters)
{
	free(counters->all);
	*counters = (struct counters) { 0 };
}
