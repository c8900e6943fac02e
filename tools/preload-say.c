// SPDX-License-Identifier: GPL-2.0
/*
 * Messages on stderr, each one write(2), so that those of many threads and
 * processes do not mix.
 *
 * A daemon closes its standard error, and then descriptor 2 may be its
 * database. So it is written to only while it is what it was at the start.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

static struct {
	bool prepared;
	bool open;
	dev_t dev;
	ino_t ino;
} at_start;

void say_prepare(void)
{
	struct stat s;

	at_start.open = !fstat(STDERR_FILENO, &s);
	at_start.dev = s.st_dev;
	at_start.ino = s.st_ino;
	at_start.prepared = true;
}

static bool is_stderr(void)
{
	struct stat s;

	if (!at_start.prepared)
		return true;
	return at_start.open && !fstat(STDERR_FILENO, &s) && s.st_dev == at_start.dev &&
	       s.st_ino == at_start.ino;
}

void line_text(struct line *l, const char *text)
{
	size_t n = strnlen(text, sizeof(l->text) - 1 - l->n);

	memcpy(l->text + l->n, text, n);
	l->n += n;
}

void line_number(struct line *l, unsigned long number)
{
	char digits[24], *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		p--;
		*p = '0' + number % 10;
		number /= 10;
	} while (number);
	line_text(l, p);
}

void line_start(struct line *l)
{
	l->n = 0;
	line_text(l, "reventfd-run: ");
}

void line_end(struct line *l)
{
	/* line_text() leaves room for it. */
	l->text[l->n++] = '\n';
	if (is_stderr())
		real_syscall()(SYS_write, (long)STDERR_FILENO, l->text, l->n);
}
