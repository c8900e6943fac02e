/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of calls share. */
#ifndef _SELFTESTS_CALLS_H
#define _SELFTESTS_CALLS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef int (*make_fn)(unsigned int count, int flags);

/* libfirst.so */
int first_eventfd(unsigned int count, int flags);
extern int first_early;

/* Prints what @fd is; if there is none, errno. */
void describe(const char *how, int fd);

int command_errno(char **arg);
int command_full(char **arg);
int command_lowest(char **arg);
int command_passthrough(char **arg);
int command_cancel(char **arg);
int command_threads(char **arg);
int command_signal(char **arg);
int command_rename(char **arg);
int command_stderr(char **arg);
int command_users(char **arg);

#endif
