// SPDX-License-Identifier: GPL-2.0
/* Names and limits as text. A command may be called anything, by anybody. */
#include <string.h>

#include "reventfdctl.h"

/* Printable ASCII: everything else, and the backslash, is escaped as in C. */
const char *printable(const char *raw, char *buffer, size_t size)
{
	static const char named[] = "\\\n\t\r";
	const unsigned char *p = (const unsigned char *)raw;
	const char *name;
	size_t n = 0;

	for (; *p && n + 5 <= size; p++) {
		name = strchr(named, *p);
		if (name)
			n += sprintf(buffer + n, "\\%c", "\\ntr"[name - named]);
		else if (*p < ' ' || *p > '~')
			n += sprintf(buffer + n, "\\x%02x", *p);
		else
			buffer[n++] = *p;
	}
	buffer[n] = 0;
	return buffer;
}

/* The length of the valid UTF-8 sequence that @p begins with, or 0. */
static size_t sequence(const unsigned char *p)
{
	unsigned int low = 0x80, high = 0xbf;
	size_t n;

	if (*p < 0x80)
		return 1;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	n = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	/* Neither longer than need be, nor a surrogate, nor past the last. */
	if (*p == 0xe0)
		low = 0xa0;
	else if (*p == 0xed)
		high = 0x9f;
	else if (*p == 0xf0)
		low = 0x90;
	else if (*p == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* UTF-8: a byte that is no part of any becomes the replacement character. */
const char *utf8(const char *raw, char *buffer, size_t size)
{
	const unsigned char *p = (const unsigned char *)raw;
	size_t n = 0, length;

	while (*p && n + 5 <= size) {
		length = sequence(p);
		if (length) {
			memcpy(buffer + n, p, length);
			n += length;
			p += length;
		} else {
			n += sprintf(buffer + n, "\xef\xbf\xbd");
			p++;
		}
	}
	buffer[n] = 0;
	return buffer;
}

const char *limit_text(const struct state *state, char *buffer, size_t size)
{
	if (!state->ours)
		snprintf(buffer, size, "-");
	else if (!state->rate)
		snprintf(buffer, size, "none");
	else
		snprintf(buffer, size, "%u/%u%s", state->rate, state->burst,
			 state->wake_only ? ",wake-only" : "");
	return buffer;
}
