// SPDX-License-Identifier: GPL-2.0
/*
 * Reads /proc: every counter of every process. Processes end and descriptors
 * are closed meanwhile; what is gone when it is looked at was not there.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reventfdctl.h"

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/*
 * Sockets, pipes and the like are passed over unread. Anything with a path
 * may be the device: its node can have any name, in any file system.
 */
static bool may_be_counter(const struct scan *scan, const char *link)
{
	if (begins_with(link, "anon_inode:"))
		return begins_with(link, "anon_inode:[reventfd]") ||
		       (!scan->only_ours && begins_with(link, "anon_inode:[eventfd]"));
	return link[0] == '/' || link[0] == '(';
}

static void add_descriptor(struct scan *scan, const struct descriptor *descriptor)
{
	scan->all = grown(scan->all, scan->n, sizeof(*scan->all));
	scan->all[scan->n++] = *descriptor;
}

static void look_at(struct scan *scan, int proc, struct descriptor *descriptor)
{
	char path[32];

	snprintf(path, sizeof(path), "fdinfo/%d", descriptor->fd);
	if (fdinfo_read(proc, path, &descriptor->state))
		return;
	if (scan->only_ours && !descriptor->state.ours)
		return;
	add_descriptor(scan, descriptor);
}

/* Return: 0, or -EACCES if this user may not know. */
static int look_into(struct scan *scan, int proc, const struct process *process, DIR *fds)
{
	struct descriptor descriptor = { .process = *process };
	struct dirent *entry;
	char link[64];
	ssize_t n;

	while ((entry = readdir(fds))) {
		if (!isdigit(entry->d_name[0]))
			continue;
		n = readlinkat(dirfd(fds), entry->d_name, link, sizeof(link) - 1);
		if (n < 0 && (errno == EACCES || errno == EPERM))
			return -EACCES;
		if (n < 0)
			continue;
		link[n] = 0;
		if (!may_be_counter(scan, link))
			continue;
		descriptor.fd = atoi(entry->d_name);
		look_at(scan, proc, &descriptor);
	}
	return 0;
}

static DIR *open_fds(int proc)
{
	int fd = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *fds = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !fds)
		close(fd);
	return fds;
}

static int scan_opened(struct scan *scan, int proc, pid_t pid)
{
	struct process process = { .pid = pid };
	int err;
	DIR *fds;

	process_name(proc, &process);
	fds = open_fds(proc);
	if (fds) {
		err = look_into(scan, proc, &process, fds);
		closedir(fds);
	} else {
		err = -errno;
	}
	if (!err) {
		scan->n_readable += pid != getpid();
	} else if (err == -EACCES && process_has_files(proc)) {
		scan->unreadable = grown(scan->unreadable, scan->n_unreadable,
					 sizeof(*scan->unreadable));
		scan->unreadable[scan->n_unreadable++] = process;
	}
	return 0;
}

/* Return: 0, also if it may not be looked into; -errno if it is not there. */
int scan_process(struct scan *scan, pid_t pid)
{
	int proc = process_open(pid), err;

	if (proc < 0)
		return -errno;
	err = scan_opened(scan, proc, pid);
	close(proc);
	return err;
}

void scan_everything(struct scan *scan)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;

	if (!all)
		exit(failed("cannot read /proc: %s", strerror(errno)));
	while ((entry = readdir(all)))
		if (isdigit(entry->d_name[0]))
			scan_process(scan, atoi(entry->d_name));
	closedir(all);
}

/**
 * scan_verdict - say on stderr what could not be looked into
 * @scan: the scan
 * @verbose: name all of them, not only the first
 *
 * Return: the status to end with: a failure only if nothing could be.
 */
int scan_verdict(const struct scan *scan, bool verbose)
{
	const size_t few = 8;
	size_t named = verbose || scan->n_unreadable <= few ? scan->n_unreadable : few;
	char text[TEXT_MAX];

	if (!scan->n_unreadable)
		return 0;
	fflush(stdout);
	fprintf(stderr, "reventfdctl: no permission to look into %zu process%s:",
		scan->n_unreadable, scan->n_unreadable == 1 ? "" : "es");
	for (size_t i = 0; i < named; i++)
		fprintf(stderr, "%s %d (%s)", i ? "," : "", scan->unreadable[i].pid,
			printable(scan->unreadable[i].command, text, sizeof(text)));
	fputc('\n', stderr);
	if (named < scan->n_unreadable)
		hint("and %zu more; --verbose names them all", scan->n_unreadable - named);
	if (geteuid())
		hint("Other users' processes are for root to look into: try it with sudo.");
	else
		hint("It takes CAP_SYS_PTRACE, which a container's root may lack.");
	return scan->n_readable ? 0 : FAILED;
}

void scan_free(struct scan *scan)
{
	free(scan->all);
	free(scan->unreadable);
	*scan = (struct scan) { .only_ours = scan->only_ours };
}
