// SPDX-License-Identifier: GPL-2.0
/* What the counters did between two looks, and in which order to show it. */
#include <stdlib.h>
#include <string.h>

#include "reventfdctl.h"

struct sampler {
	struct counters before;
	double when;
};

static size_t look(struct sampler *sampler)
{
	struct scan scan = { .only_ours = true };
	size_t unreadable;

	scan_everything(&scan);
	sampler->when = now();
	counters_of(&scan, &sampler->before);
	unreadable = scan.n_unreadable;
	scan_free(&scan);
	return unreadable;
}

struct sampler *sampler_new(void)
{
	struct sampler *sampler = grown(NULL, 0, sizeof(*sampler));

	look(sampler);
	return sampler;
}

static void compute(struct rate *rate, const struct counter *before, double seconds)
{
	const struct state none = { 0 }, *s = &rate->counter.first.state, *t = &none;

	/* An id that begins anew is another counter's, which began at nothing. */
	if (before && before->first.state.writes <= s->writes &&
	    before->first.state.reads <= s->reads && before->first.state.wakeups <= s->wakeups &&
	    before->first.state.deferred <= s->deferred)
		t = &before->first.state;
	rate->writes = (s->writes - t->writes) / seconds;
	rate->reads = (s->reads - t->reads) / seconds;
	rate->wakeups = (s->wakeups - t->wakeups) / seconds;
	rate->deferred = (s->deferred - t->deferred) / seconds;
}

/* What happened since the last look, or since the sampler was made. */
void sampler_next(struct sampler *sampler, struct rates *rates)
{
	struct sampler last = *sampler;
	struct counters *after = &sampler->before;
	size_t i = 0;

	*rates = (struct rates) { 0 };
	rates->n_unreadable = look(sampler);
	rates->seconds = sampler->when - last.when;
	for (; rates->n < after->n; rates->n++) {
		rates->all = grown(rates->all, rates->n, sizeof(*rates->all));
		rates->all[rates->n].counter = after->all[rates->n];
		/* Both are in order of their ids. */
		while (i < last.before.n &&
		       counter_compare(&last.before.all[i], &after->all[rates->n]) < 0)
			i++;
		compute(&rates->all[rates->n],
			i < last.before.n && !counter_compare(&last.before.all[i],
							      &after->all[rates->n]) ?
			&last.before.all[i] : NULL, rates->seconds);
	}
	counters_free(&last.before);
}

void rates_free(struct rates *rates)
{
	free(rates->all);
	*rates = (struct rates) { 0 };
}

const char *sort_name(char key)
{
	static const char *const names[] = {
		"writes", "reads", "wakeups", "deferred", "count", "id", "pid",
	};

	return names[strchr(SORT_KEYS, key) - SORT_KEYS];
}

static char sorted_by;

static double sort_value(const struct rate *r)
{
	switch (sorted_by) {
	case 'w':
		return r->writes;
	case 'r':
		return r->reads;
	case 'd':
		return r->deferred;
	case 'c':
		return r->counter.first.state.count;
	case 'i':
		return -r->counter.first.state.id;
	case 'p':
		return -r->counter.first.process.pid;
	default:
		return r->wakeups;
	}
}

static int compare(const void *a, const void *b)
{
	const struct rate *r = a, *s = b;
	double x = sort_value(r), y = sort_value(s);

	if (x != y)
		return x < y ? 1 : -1;
	return counter_compare(&r->counter, &s->counter);
}

/* The busiest first, or the lowest id or pid. Return: whether @key is one of SORT_KEYS. */
bool rates_sort(struct rates *rates, char key)
{
	if (!key || !strchr(SORT_KEYS, key))
		return false;
	sorted_by = key;
	if (rates->n)
		qsort(rates->all, rates->n, sizeof(*rates->all), compare);
	return true;
}

void rates_table(const struct rates *rates, struct table *table)
{
	static const struct column columns[] = {
		{ "ID" }, { "COUNT" }, { "LIMIT", true }, { "WRITES/s" }, { "READS/s" },
		{ "WAKEUPS/s" }, { "DEFERRED/s" }, { "FDS" }, { "PID" }, { "COMMAND", true },
	};
	char text[TEXT_MAX];

	*table = (struct table) {
		.columns = columns, .n_columns = ARRAY_SIZE(columns),
	};
	for (size_t i = 0; i < rates->n; i++) {
		const struct rate *r = &rates->all[i];
		const struct descriptor *d = &r->counter.first;

		table_cell(table, "%d", d->state.id);
		table_cell(table, "%llu", d->state.count);
		table_cell(table, "%s", limit_text(&d->state, text, sizeof(text)));
		table_cell(table, "%.1f", r->writes);
		table_cell(table, "%.1f", r->reads);
		table_cell(table, "%.1f", r->wakeups);
		table_cell(table, "%.1f", r->deferred);
		table_cell(table, "%zu", r->counter.descriptors);
		table_cell(table, "%d", d->process.pid);
		table_cell(table, "%s", printable(d->process.command, text, sizeof(text)));
	}
}
