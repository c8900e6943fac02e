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
 * Whether a line of KCSAN's reports names this module, as one of the two whose
 * accesses race or as who called it. The kernel's own races are not looked for.
 */
static inline bool is_our_race(const char *record)
{
	static int frame = 2;

	if (strstr(record, " to 0x") && strstr(record, " by ")) {
		frame = 0;
		return false;
	}
	return frame < 2 && ++frame && strstr(record, "[reventfd");
}

/*
 * Returns how many faults the console did not show, which are printed here.
 * @times is set to how often the kernel said @meant.
 */
static inline int unsilence_console(const char *meant, int *times)
{
	static const char *const faults[] = { "WARNING:", "BUG", "possible ", "KASAN", "stall" };
	char record[8192];
	int n = 0, bytes;

	*times = 0;
	klogctl(CONSOLE_LEVEL, NULL, 6);
	for (;;) {
		bytes = read(kmsg, record, sizeof(record) - 1);
		/* Some were overwritten before they were read. */
		if (bytes < 0 && errno == EPIPE)
			continue;
		if (bytes <= 0)
			break;
		record[bytes] = 0;
		if (strstr(record, meant))
			(*times)++;
		if (is_our_race(record)) {
			printf("# %s", record);
			n++;
		}
		if (strstr(record, "BUG: KCSAN"))
			continue;
		for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
			if (!strstr(record, faults[i]))
				continue;
			printf("# %s", record);
			n++;
		}
	}
	close(kmsg);
	return n;
}

#endif
