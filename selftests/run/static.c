// SPDX-License-Identifier: GPL-2.0
/* Prints what a statically linked program's eventfd is. */
#include <stdio.h>
#include <unistd.h>

int first_eventfd(unsigned int count, int flags);

int main(void)
{
	char path[64], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", first_eventfd(0, 0));
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = 0;
	printf("static: %s\n", target);
	return 0;
}
