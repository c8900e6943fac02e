// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaks when it is loaded. Only after kmemleak was seen to report that does its
 * silence about reventfd mean something.
 */
#include <linux/module.h>
#include <linux/slab.h>

/* A single one may escape kmemleak: a register or a stack still has its address. */
#define LEAKS	16

static int __init leaky_init(void)
{
	unsigned int i, leaked = 0;

	for (i = 0; i < LEAKS; i++)
		leaked += !!kmalloc(333, GFP_KERNEL);

	pr_info("leaked %u objects on purpose\n", leaked);
	return 0;
}

static void __exit leaky_exit(void)
{
}

module_init(leaky_init);
module_exit(leaky_exit);

MODULE_DESCRIPTION("Leaks a few objects, to prove the leak detector");
MODULE_LICENSE("GPL");
