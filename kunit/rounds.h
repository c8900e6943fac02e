/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KUNIT_ROUNDS_H
#define _KUNIT_ROUNDS_H

#include <linux/kconfig.h>

/* A kernel that watches every access takes many times as long for a round, and sees more in it. */
static inline int many(int rounds)
{
	return IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN) ? rounds / 4 : rounds;
}

#endif /* _KUNIT_ROUNDS_H */
