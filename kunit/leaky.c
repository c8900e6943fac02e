// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaks one object when it is loaded. Only after kmemleak was seen to report
 * this one does its silence about reventfd mean something.
 */
#include <linux/module.h>
#include <linux/slab.h>

static int __init leaky_init(void)
{
	void *object = kmalloc(333, GFP_KERNEL);

	pr_info("leaked one object, %s\n", object ? "on purpose" : "but there was no memory");
	return 0;
}

static void __exit leaky_exit(void)
{
}

module_init(leaky_init);
module_exit(leaky_exit);

MODULE_DESCRIPTION("Leaks one object, to prove the leak detector");
MODULE_LICENSE("GPL");
