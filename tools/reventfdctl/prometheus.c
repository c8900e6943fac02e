// SPDX-License-Identifier: GPL-2.0
/*
 * The counters in Prometheus' text format. A counter is one series, labelled
 * with its lowest pid and that process's name, however many hold it.
 */

#include "reventfdctl.h"

enum figure {
	COUNT, DESCRIPTORS, SEMAPHORE, RATE, BURST, READY, OWED, WRITES, READS, WAKEUPS,
	DEFERRED, TIMER_FIRES,
};

static const struct metric {
	enum figure figure;
	bool every_kind;	/* eventfds, too */
	const char *name;
	const char *type;
	const char *help;
} metrics[] = {
	{ COUNT, true, "count", "gauge", "Events that wait to be read." },
	{ DESCRIPTORS, true, "descriptors", "gauge", "Descriptors, of any process." },
	{ SEMAPHORE, true, "semaphore", "gauge", "1 if a read takes one event." },
	{ RATE, false, "limit_rate", "gauge", "Wakeups per second, at most; 0: no limit." },
	{ BURST, false, "limit_burst", "gauge", "Wakeups that may follow each other at once." },
	{ READY, false, "ready", "gauge", "1 if poll() reports it readable." },
	{ OWED, false, "owed", "gauge", "1 while a wakeup waits for its token." },
	{ WRITES, false, "writes_total", "counter", "Writes that added something." },
	{ READS, false, "reads_total", "counter", "Reads that took something." },
	{ WAKEUPS, false, "wakeups_total", "counter", "Times the consumer's side was woken." },
	{ DEFERRED, false, "deferred_total", "counter", "Wakeups that waited for a token." },
	{ TIMER_FIRES, false, "timer_fires_total", "counter", "Times a deferral's timer expired." },
};

static unsigned long long value(const struct counter *c, enum figure figure)
{
	const struct state *s = &c->first.state;
	const unsigned long long values[] = {
		[COUNT] = s->count,
		[DESCRIPTORS] = c->descriptors,
		[SEMAPHORE] = s->semaphore == 1,
		[RATE] = s->rate,
		[BURST] = s->burst,
		[READY] = s->ready,
		[OWED] = s->owed,
		[WRITES] = s->writes,
		[READS] = s->reads,
		[WAKEUPS] = s->wakeups,
		[DEFERRED] = s->deferred,
		[TIMER_FIRES] = s->timer_fires,
	};

	return values[figure];
}

/* In a label's value backslashes and quotes are escaped once more. */
static void print_label(const char *raw, FILE *file)
{
	char text[TEXT_MAX];

	for (const char *p = printable(raw, text, sizeof(text)); *p; p++) {
		if (*p == '\\' || *p == '"')
			fputc('\\', file);
		fputc(*p, file);
	}
}

static void print_family(const struct metric *m, bool ours, const struct counters *counters,
			 FILE *file)
{
	const char *kind = ours ? "reventfd" : "eventfd";
	bool begun = false;

	for (size_t i = 0; i < counters->n; i++) {
		const struct counter *c = &counters->all[i];

		if (c->first.state.ours != ours ||
		    (m->figure == SEMAPHORE && c->first.state.semaphore < 0))
			continue;
		if (!begun) {
			fprintf(file, "# HELP %s_%s %s\n", kind, m->name, m->help);
			fprintf(file, "# TYPE %s_%s %s\n", kind, m->name, m->type);
			begun = true;
		}
		fprintf(file, "%s_%s{id=\"%d\",pid=\"%d\",command=\"", kind, m->name,
			c->first.state.id, c->first.process.pid);
		print_label(c->first.process.command, file);
		fprintf(file, "\"} %llu\n", value(c, m->figure));
	}
}

void prometheus_print(const struct counters *counters, size_t unreadable, FILE *file)
{
	const size_t n = ARRAY_SIZE(metrics);

	for (size_t i = 0; i < n; i++)
		print_family(&metrics[i], true, counters, file);
	for (size_t i = 0; i < n; i++)
		if (metrics[i].every_kind)
			print_family(&metrics[i], false, counters, file);
	fprintf(file, "# HELP reventfdctl_unreadable_processes %s\n",
		"Processes that reventfdctl may not look into.");
	fprintf(file, "# TYPE reventfdctl_unreadable_processes gauge\n");
	fprintf(file, "reventfdctl_unreadable_processes %zu\n", unreadable);
}
