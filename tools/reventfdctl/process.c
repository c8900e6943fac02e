// SPDX-License-Identifier: GPL-2.0
/*
 * What /proc says of one process and one descriptor. All goes through an open
 * /proc/PID: when the process ends, everything below it fails, and never
 * tells of another process with the same number.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reventfdctl.h"

int process_open(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * The whole file as a string: what these files say comes at one read, or is
 * too long for any of ours. Return: its length, or -errno.
 */
static ssize_t read_file(int dir, const char *path, char *buffer, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buffer, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	buffer[n < 0 ? 0 : n] = 0;
	return n;
}

/* Fills in the command's name; "" if the process is gone. */
void process_name(int dir, struct process *process)
{
	ssize_t n = read_file(dir, "comm", process->command, COMMAND_MAX);

	if (n > 0 && process->command[n - 1] == '\n')
		n--;
	process->command[n > 0 ? n : 0] = 0;
}

/*
 * Neither the kernel's threads nor the dead have any files. Both seem to
 * belong to somebody else, and are not worth a word about permission.
 */
bool process_has_files(int dir)
{
	const unsigned int kthread = 0x00200000;
	unsigned int flags;
	char stat[1024], state, *p;

	if (read_file(dir, "stat", stat, sizeof(stat)) < 0)
		return false;
	/* The name, in brackets, may hold brackets. */
	p = strrchr(stat, ')');
	if (!p || sscanf(p, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return true;
	return state != 'Z' && state != 'X' && !(flags & kthread);
}

static void parse_line(const char *key, const char *value, struct state *s)
{
	const struct {
		const char *key;
		unsigned long long *value;
	} big[] = {
		{ "reventfd-writes", &s->writes },
		{ "reventfd-reads", &s->reads },
		{ "reventfd-wakeups", &s->wakeups },
		{ "reventfd-deferred", &s->deferred },
		{ "reventfd-timer-fires", &s->timer_fires },
	};

	if (!strcmp(key, "eventfd-count"))
		s->count = strtoull(value, NULL, 16);
	else if (!strcmp(key, "eventfd-id"))
		s->id = atoi(value);
	else if (!strcmp(key, "eventfd-semaphore"))
		s->semaphore = atoi(value);
	else if (!strcmp(key, "reventfd-burst"))
		s->burst = strtoul(value, NULL, 10);
	else if (!strcmp(key, "reventfd-wake-only"))
		s->wake_only = atoi(value);
	else if (!strcmp(key, "reventfd-ready"))
		s->ready = atoi(value);
	else if (!strcmp(key, "reventfd-owed"))
		s->owed = atoi(value);
	else if (!strcmp(key, "reventfd-shards"))
		s->shards = strtoul(value, NULL, 10);
	else if (!strcmp(key, "reventfd-rate"))
		s->rate = strtoul(value, NULL, 10), s->ours = true;
	for (size_t i = 0; i < ARRAY_SIZE(big); i++)
		if (!strcmp(key, big[i].key))
			*big[i].value = strtoull(value, NULL, 10);
}

/**
 * fdinfo_read - read what there is to know of a descriptor
 * @dir: an open /proc/PID, or AT_FDCWD for an absolute path
 * @path: of the fdinfo file
 * @state: is filled in
 *
 * Lines that are not known are passed over, so that a module may tell more.
 *
 * Return: 0, -ENOTTY if it is neither an eventfd nor a reventfd, or -errno.
 */
int fdinfo_read(int dir, const char *path, struct state *state)
{
	char text[4096], *line, *rest = text, *value;
	ssize_t n;

	*state = (struct state) { .id = -1, .semaphore = -1 };
	n = read_file(dir, path, text, sizeof(text));
	if (n < 0)
		return n;
	if (!strstr(text, "\neventfd-count:"))
		return -ENOTTY;
	while ((line = strsep(&rest, "\n"))) {
		value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = 0;
		parse_line(line, value, state);
	}
	return 0;
}
