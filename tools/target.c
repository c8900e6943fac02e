// SPDX-License-Identifier: GPL-2.0
/*
 * What can be known about a program before it runs: where it is, and whether
 * the loader will preload a library for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/elf.h>

#include "target.h"

/* The kernel follows no more interpreters of interpreters than this. */
#define INTERPRETERS_MAX 4

#if __SIZEOF_POINTER__ == 8
typedef struct elf64_hdr elf_header;
typedef struct elf64_phdr elf_segment;
#else
typedef struct elf32_hdr elf_header;
typedef struct elf32_phdr elf_segment;
#endif

static int executable(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return -errno;
	if (!S_ISREG(s.st_mode))
		return -EACCES;
	return euidaccess(path, X_OK) ? -errno : 0;
}

static int search(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	int error, found = -ENOENT;

	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t n = strcspn(dirs, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, dirs, n ? "/" : "", name);
		error = executable(path);
		if (!error)
			return 0;
		if (error == -EACCES)
			found = -EACCES;
		if (!dirs[n])
			return found;
		dirs += n + 1;
	}
}

/* Its beginning, or 0 if it cannot be read, which execution does not need. */
static size_t head(const char *path, void *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, to, size);

	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : n;
}

/* "#!INTERPRETER ARGUMENT" */
static bool interpreter(const char *path, char to[PATH_MAX])
{
	char line[256], *start;

	line[head(path, line, sizeof(line) - 1)] = 0;
	if (strncmp(line, "#!", 2))
		return false;
	start = line + 2 + strspn(line + 2, " \t");
	start[strcspn(start, " \t\n")] = 0;
	snprintf(to, PATH_MAX, "%s", start);
	return *start;
}

int target_find(struct target *t, const char *name)
{
	char next[PATH_MAX];
	int error;

	*t = (struct target) { 0 };
	if (strlen(name) > NAME_MAX && !strchr(name, '/'))
		return -ENAMETOOLONG;
	if (strchr(name, '/')) {
		snprintf(t->path, sizeof(t->path), "%s", name);
		error = executable(t->path);
	} else {
		error = *name ? search(name, t->path) : -ENOENT;
	}
	if (error)
		return error;
	memcpy(t->file, t->path, sizeof(t->file));
	for (int i = 0; i < INTERPRETERS_MAX && interpreter(t->file, next); i++) {
		t->script = true;
		memcpy(t->file, next, sizeof(t->file));
	}
	return 0;
}

/* As the kernel tells the loader with AT_SECURE. */
static bool gains_privilege(const char *path)
{
	char capability[64];
	struct stat s;

	if (stat(path, &s))
		return false;
	if (s.st_mode & S_ISUID && s.st_uid != getuid())
		return true;
	/* Without the group's x it would mean mandatory locking. */
	if ((s.st_mode & 02010) == 02010 && s.st_gid != getgid())
		return true;
	return getuid() && getxattr(path, "security.capability", capability,
				    sizeof(capability)) > 0;
}

/* Whether it names a loader; true as well if that cannot be seen. */
static bool is_dynamic(const char *path, const elf_header *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = fd < 0;
	elf_segment segment;

	for (int i = 0; !found && i < elf->e_phnum; i++) {
		off_t at = elf->e_phoff + (off_t)i * elf->e_phentsize;

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			break;
		found = segment.p_type == PT_INTERP;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

const char *target_obstacle(const struct target *t)
{
	elf_header elf, own;

	if (gains_privilege(t->file))
		return "it runs with privileges that its caller does not have";
	if (head(t->file, &elf, sizeof(elf)) != sizeof(elf) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG))
		return NULL;
	if (head("/proc/self/exe", &own, sizeof(own)) == sizeof(own) &&
	    (elf.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || elf.e_machine != own.e_machine))
		return "it is built for another architecture than this library";
	if (!is_dynamic(t->file, &elf))
		return "it is linked statically";
	return NULL;
}
