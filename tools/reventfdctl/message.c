// SPDX-License-Identifier: GPL-2.0
/* What is said on stderr, and the end when there is no memory. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "reventfdctl.h"

/* What went wrong. Return: the status to end with. */
int failed(const char *format, ...)
{
	int error = errno;	/* for %m */
	va_list args;

	fflush(stdout);
	fputs("reventfdctl: ", stderr);
	errno = error;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return FAILED;
}

/* After failed(): what it means, or what to do. */
void hint(const char *format, ...)
{
	va_list args;

	fputs("  ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static void no_memory(void)
{
	failed("no memory");
	exit(FAILED);
}

/* @array with room for one more than @n items: it doubles at powers of two. */
void *grown(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	array = reallocarray(array, n ? 2 * n : 1, size);
	if (!array)
		no_memory();
	return array;
}

char *formatted(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		no_memory();
	va_end(args);
	return text;
}
