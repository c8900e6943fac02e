/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of reventfdctl share. Each says at its head what it decides. */
#ifndef _REVENTFDCTL_H
#define _REVENTFDCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ATTRIBUTE(list)	__attribute__(list)

/* Exit statuses. */
#define FAILED	1
#define USAGE	2

/* message.c */
int failed(const char *format, ...) ATTRIBUTE((format(printf, 1, 2)));
void hint(const char *format, ...) ATTRIBUTE((format(printf, 1, 2)));
void *grown(void *array, size_t n, size_t size);
char *formatted(const char *format, ...) ATTRIBUTE((format(printf, 1, 2)));

/* arguments.c */
struct argp_state;
unsigned long long parse_number(struct argp_state *state, const char *what, const char *text,
				unsigned long long most);
double parse_seconds(struct argp_state *state, const char *what, const char *text);
void pause_for(double seconds);
double now(void);

/**
 * struct state - what /proc/PID/fdinfo/FD says of a counter
 * @ours: it is a reventfd; of an eventfd only the next three are known
 * @id: tells counters of one kind apart, whoever holds them
 * @semaphore: 0 or 1, or -1 where the kernel does not say (eventfd before 6.5)
 * @count: events in it
 * @rate: the limit, as in struct reventfd_limit
 * @burst: the same
 * @wake_only: the same
 * @ready: poll() reports it readable
 * @owed: a wakeup waits for its token
 * @writes: as in struct reventfd_stats, like those that follow
 * @shards: parts that the count is kept in; 0: in one
 */
struct state {
	bool ours;
	int id;
	int semaphore;
	unsigned long long count;
	uint32_t rate;
	uint32_t burst;
	bool wake_only;
	bool ready;
	bool owed;
	unsigned long long writes;
	unsigned long long reads;
	unsigned long long wakeups;
	unsigned long long deferred;
	unsigned long long timer_fires;
	unsigned int shards;
};

/* Long enough for what the kernel calls its own threads, too. */
#define COMMAND_MAX	64

struct process {
	pid_t pid;
	char command[COMMAND_MAX];	/* raw: it may hold any byte but NUL */
};

struct descriptor {
	struct process process;
	int fd;
	struct state state;
};

/* process.c */
int process_open(pid_t pid);
void process_name(int dir, struct process *process);
bool process_has_files(int dir);
int fdinfo_read(int dir, const char *path, struct state *state);

/**
 * struct scan - every counter that could be seen, in order of pid and fd
 * @only_ours: to be set before: leave eventfds out
 * @all: the descriptors
 * @n: how many
 * @unreadable: the processes that this user may not look into
 * @n_unreadable: how many
 * @n_readable: how many processes were looked into, this one not counted
 */
struct scan {
	bool only_ours;
	struct descriptor *all;
	size_t n;
	struct process *unreadable;
	size_t n_unreadable;
	size_t n_readable;
};

/* scan.c */
void scan_everything(struct scan *scan);
int scan_process(struct scan *scan, pid_t pid);
int scan_verdict(const struct scan *scan, bool verbose);
void scan_free(struct scan *scan);

/**
 * struct counter - one counter, through whichever descriptors
 * @first: the descriptor with the lowest pid and fd
 * @descriptors: how many hold it
 */
struct counter {
	struct descriptor first;
	size_t descriptors;
};

struct counters {
	struct counter *all;	/* eventfds, then reventfds, each by id */
	size_t n;
};

/* counters.c */
void counters_of(const struct scan *scan, struct counters *counters);
int counter_compare(const struct counter *a, const struct counter *b);
void counters_free(struct counters *counters);

/**
 * struct rate - what a counter did between two looks, per second
 * @counter: as the second look saw it
 */
struct rate {
	struct counter counter;
	double writes;
	double reads;
	double wakeups;
	double deferred;
};

struct rates {
	double seconds;		/* between the looks */
	struct rate *all;
	size_t n;
	size_t n_unreadable;
};

/* rates.c */
struct sampler;
struct sampler *sampler_new(void);
void sampler_next(struct sampler *sampler, struct rates *rates);
void rates_free(struct rates *rates);
bool rates_sort(struct rates *rates, char key);
#define SORT_KEYS "wrkdcip"
const char *sort_name(char key);

/* table.c */
struct column {
	const char *head;
	bool left;
};

struct table {
	const struct column *columns;
	size_t n_columns;
	char **cells;
	size_t n_cells;
};

void table_cell(struct table *table, const char *format, ...)
	ATTRIBUTE((format(printf, 2, 3)));
size_t table_rows(const struct table *table);
void table_widths(const struct table *table, int *widths);
char *table_line(const struct table *table, const int *widths, size_t row);
void table_print(const struct table *table, FILE *file);
void table_free(struct table *table);
void rates_table(const struct rates *rates, struct table *table);

/* text.c */
const char *printable(const char *raw, char *buffer, size_t size);
const char *utf8(const char *raw, char *buffer, size_t size);
const char *limit_text(const struct state *state, char *buffer, size_t size);

/* The longest that printable() and utf8() make of a command, and limit_text(). */
#define TEXT_MAX	(4 * COMMAND_MAX)

/* json.c */
void json_list(const struct scan *scan);
void json_stat(const struct descriptor *descriptor);
void json_rates(const struct rates *rates);

/* prometheus.c */
void prometheus_print(const struct counters *counters, size_t unreadable, FILE *file);

/* screen.c */
int screen_run(double delay, char sort);

/* The commands: each in the file of its name. */
int command_list(int argc, char **argv);
int command_top(int argc, char **argv);
int command_set(int argc, char **argv);
int command_stat(int argc, char **argv);
int command_export(int argc, char **argv);

#endif /* _REVENTFDCTL_H */
