/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the kernel prints a stack for what is meant to fail, as it does when
 * memory is short, the console is not to show it, since whoever reads that
 * takes each stack for a fault. What was really one is looked for here.
 */
#ifndef _SELFTESTS_KMSG_H
#define _SELFTESTS_KMSG_H

#include <sys/klog.h>

#include "counter.h"

#define CONSOLE_LEVEL	8	/* what klogctl(3) calls SYSLOG_ACTION_CONSOLE_LEVEL */

static int kmsg = -1;

static inline void silence_console(void)
{
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kmsg, 0, SEEK_END);
	klogctl(CONSOLE_LEVEL, NULL, 4);
}

/*
 * Whether @record tells of a fault. A report of KCSAN does if one of its two
 * accesses is made by this module or by what it calls, as scripts/logscan has
 * it: @frame counts the lines since the last access.
 */
static inline bool is_fault(const char *record, unsigned int *frame)
{
	static const char *const faults[] = { "WARNING:", "BUG", "possible ", "KASAN", "stall" };

	if (strstr(record, " to 0x") && strstr(record, " by "))
		*frame = 0;
	else if ((*frame)++ < 2 && strstr(record, "[reventfd"))
		return true;
	if (strstr(record, "BUG: KCSAN"))
		return false;
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		if (strstr(record, faults[i]))
			return true;
	}
	return false;
}

/*
 * Returns how many faults the console did not show, which are printed here.
 * @times is set to how often the kernel said @meant.
 */
static inline int unsilence_console(const char *meant, int *times)
{
	unsigned int frame = 2;
	char record[8192];
	int n = 0, bytes;

	*times = 0;
	klogctl(CONSOLE_LEVEL, NULL, 6);
	while ((bytes = read(kmsg, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		record[bytes > 0 ? bytes : 0] = 0;
		if (strstr(record, meant))
			(*times)++;
		if (is_fault(record, &frame)) {
			printf("# %s", record);
			n++;
		}
		errno = 0;
	}
	close(kmsg);
	return n;
}

#endif
