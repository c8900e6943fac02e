// SPDX-License-Identifier: GPL-2.0
/* What the consumer saw, and what it cost. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "load.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static uint64_t own_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

void tally_start(struct tally *t, unsigned int sensors)
{
	*t = (struct tally) { .sensors = sensors, .open = sensors };
	t->start_ns = clock_ns(CLOCK_MONOTONIC);
	t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	t->switches = own_switches();
}

void tally_take(struct tally *t, const struct reading *r)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (r->sensor >= t->sensors || r->number != t->next[r->sensor]++)
		t->wrong++;
	if (r->last)
		t->open--;
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 1 << 16;
		t->latency_ns = realloc(t->latency_ns, t->room * sizeof(*t->latency_ns));
	}
	t->latency_ns[t->n++] = now - r->sent_ns;
}

static int smaller(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void tally_sort(struct tally *t)
{
	qsort(t->latency_ns, t->n, sizeof(*t->latency_ns), smaller);
}

unsigned int tally_latency_us(const struct tally *t, unsigned int percent)
{
	return t->latency_ns[(t->n - 1) * (uint64_t)percent / 100] / 1000;
}

/*
 * How many reventfds the process has, and what the busiest says: that by which
 * readings come. All have the same limit, so its wakeups stand for theirs.
 */
struct counters {
	unsigned int n;
	unsigned long long wakeups, writes, reads;
};

static void look_at(const char *fd, struct counters *c)
{
	unsigned long long writes = 0, reads = 0, wakeups = 0;
	char path[300], line[128];
	bool ours = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "reventfd-writes: %llu", &writes) == 1 ||
		    sscanf(line, "reventfd-reads: %llu", &reads) == 1)
			continue;
		if (sscanf(line, "reventfd-wakeups: %llu", &wakeups) == 1)
			ours = true;
	}
	if (f)
		fclose(f);
	c->n += ours;
	if (ours && writes >= c->writes) {
		c->wakeups = wakeups;
		c->writes = writes;
		c->reads = reads;
	}
}

static struct counters own_counters(void)
{
	DIR *dir = opendir("/proc/self/fdinfo");
	struct counters c = { 0 };
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		look_at(entry->d_name, &c);
	if (dir)
		closedir(dir);
	return c;
}

/* Before main(), so that no descriptor of the program is older. */
static uint64_t born_ns;

__attribute__((constructor)) static void note_birth(void)
{
	born_ns = clock_ns(CLOCK_MONOTONIC);
}

bool tally_print(struct tally *t, const char *name)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t->cpu_ns;
	uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - t->start_ns;
	uint64_t switches = own_switches() - t->switches;
	struct counters c = own_counters();
	uint64_t life = clock_ns(CLOCK_MONOTONIC) - born_ns;
	unsigned int sent = 0;

	for (unsigned int s = 0; s < t->sensors; s++)
		sent += t->next[s];
	tally_sort(t);
	printf("result: program=%s readings=%u wrong=%u switches=%llu cpu_us=%llu elapsed_us=%llu",
	       name, t->n, t->wrong, (unsigned long long)switches,
	       (unsigned long long)cpu / 1000, (unsigned long long)elapsed / 1000);
	printf(" p50_us=%u p99_us=%u max_us=%u", tally_latency_us(t, 50),
	       tally_latency_us(t, 99), tally_latency_us(t, 100));
	printf(" reventfds=%u writes=%llu reads=%llu wakeups=%llu life_us=%llu\n", c.n, c.writes,
	       c.reads, c.wakeups, (unsigned long long)life / 1000);
	return !t->wrong && sent == t->n;
}
