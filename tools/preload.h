/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the preloaded libraries share. All of it may be called
 * from a signal handler and from any thread: nothing allocates or locks.
 */
#ifndef _TOOLS_PRELOAD_H
#define _TOOLS_PRELOAD_H

#include <stddef.h>

#include "options.h"

/* Only what is interposed may be seen by the program. */
#define INTERPOSED __attribute__((visibility("default")))

/*
 * The C library's syscall(). What the library needs of the kernel it asks for
 * by this, since open(), write() and close() could act on a cancellation of
 * the thread, which eventfd(2) never does.
 */
typedef long (*syscall_fn)(long nr, ...);
syscall_fn real_syscall(void);

/* One message, put together piece by piece; line_end() writes it to stderr. */
struct line {
	size_t n;
	char text[400];
};

void line_start(struct line *l);
void line_text(struct line *l, const char *text);
void line_number(struct line *l, unsigned long number);
void line_end(struct line *l);
void say_prepare(void);

/* What the environment said; NULL while the library has not yet started up. */
const struct options *options_ready(void);
void options_prepare(void);

/* eventfd(2) for the caller at @address, as @o says; before start-up is over, the latter. */
int make_eventfd(const struct options *o, unsigned int count, int flags, void *address);
int make_eventfd_early(unsigned int count, int flags, void *address);

/* The path of the program or library that holds @address. */
const char *caller_of(void *address);
void caller_prepare(void);

/*
 * A reventfd with what eventfd(2) would make of @count and @flags, which
 * eventfd(2) knows, and with the limit of @o. -1 and errno if there is none.
 */
int make_reventfd(unsigned int count, int flags, const struct options *o);

/* After a call that the kernel refused: says so if a reventfd is the reason. */
void explain_syscall(long nr, const long a[6]);
void explain_ioctl(unsigned long request, void *arg);

#endif
