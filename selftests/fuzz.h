/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that replay: the same seed, the same sequence, everywhere. */
#ifndef _SELFTESTS_FUZZ_H
#define _SELFTESTS_FUZZ_H

#include <stdint.h>

struct dice {
	uint64_t state;
};

/* splitmix64, by Sebastiano Vigna, who placed it in the public domain. */
static inline uint64_t roll(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline uint64_t below(struct dice *d, uint64_t n)
{
	return roll(d) % n;
}

#endif
