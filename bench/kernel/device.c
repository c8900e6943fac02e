// SPDX-License-Identifier: GPL-2.0-only
/*
 * What only kernel code can measure, for bench/signal.c and bench/drain.c:
 * they ask for one measurement at a time, and say what is compared.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "requests.h"

/* Two measurements at once would measure each other. */
static DEFINE_MUTEX(one_at_a_time);

static int measure(unsigned int cmd, void *request)
{
	switch (cmd) {
	case BENCH_SIGNALS:
		return bench_signals(request);
	case BENCH_DRAIN:
		return bench_drain(request);
	case BENCH_ADDS:
		return bench_adds(request);
	}
	return -ENOTTY;
}

static long bench_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	union {
		struct bench_signals signals;
		struct bench_drain drain;
		struct bench_adds adds;
	} request;
	void __user *user = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);
	int err;

	if (size > sizeof(request))
		return -ENOTTY;
	if (copy_from_user(&request, user, size))
		return -EFAULT;

	mutex_lock(&one_at_a_time);
	err = measure(cmd, &request);
	mutex_unlock(&one_at_a_time);
	if (err)
		return err;
	return copy_to_user(user, &request, size) ? -EFAULT : 0;
}

static const struct file_operations bench_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= bench_ioctl,
	.llseek		= noop_llseek,
};

static struct miscdevice bench_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "reventfd-bench",
	.fops	= &bench_fops,
	.mode	= 0600,
};

static int __init bench_init(void)
{
	int err;

	err = bench_shards_init();
	if (err)
		return err;

	err = misc_register(&bench_device);
	if (err)
		bench_shards_exit();
	return err;
}

static void __exit bench_exit(void)
{
	misc_deregister(&bench_device);
	bench_shards_exit();
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_AUTHOR("The reventfd authors");
MODULE_DESCRIPTION("Measures reventfd from inside the kernel");
MODULE_LICENSE("GPL");
