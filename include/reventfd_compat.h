/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All that differs between the kernels this module builds for and between
 * their configurations, and nothing else. Kbuild looks into the kernel's
 * headers and defines REVENTFD_HAVE_*; a version decides only where no header
 * shows the difference.
 */
#ifndef _REVENTFD_COMPAT_H
#define _REVENTFD_COMPAT_H

#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#ifndef CONFIG_EVENTFD
#error "reventfd needs a kernel with CONFIG_EVENTFD"
#endif

/* There an atomic is a spinlock, and no full barrier; nothing here would hold. */
#if defined(CONFIG_SMP) && defined(CONFIG_GENERIC_ATOMIC64)
#error "reventfd needs 64-bit atomics, which this processor does not have"
#endif

#ifndef REVENTFD_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/*
 * eventfd took a write of more than 8 bytes, using the first 8, until 6.9.
 * Only its body changed, so no header tells.
 */
static inline bool reventfd_write_size_ok(size_t size)
{
	if (LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0))
		return size >= sizeof(u64);
	return size == sizeof(u64);
}

/*
 * Later kernels' eventfd_signal() adds 1, and does not say whether it fitted.
 * The number of calls is bounded, since this may be an interrupt.
 */
static inline u64 reventfd_compat_eventfd_signal(struct eventfd_ctx *ctx, u64 n)
{
#ifdef REVENTFD_HAVE_EVENTFD_SIGNAL_ONE
	for (n = min_t(u64, n, U16_MAX); n; n--)
		eventfd_signal(ctx);
	return 0;
#else
	return eventfd_signal(ctx, n);
#endif
}

/*
 * Eight bytes from user space. Where an address may be anything, one load does
 * it; elsewhere the bytes are copied.
 */
static inline int reventfd_get_u64(u64 *n, const void __user *from)
{
	if (IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS))
		return get_user(*n, (const u64 __user *)from);
	return copy_from_user(n, from, sizeof(*n)) ? -EFAULT : 0;
}

/*
 * Later kernels have two bits for what of a file fsnotify reports, and may
 * have set one of them before a driver's open.
 */
static inline void reventfd_hide_from_fsnotify(struct file *file)
{
#ifdef FMODE_FSNOTIFY_MASK
	file->f_mode &= ~FMODE_FSNOTIFY_MASK;
#endif
	file->f_mode |= FMODE_NONOTIFY;
}

/*
 * The lock is an rwlock where that is a good one. On PREEMPT_RT it does not
 * lend a waiting writer's priority to the readers it waits for; where it is
 * the processor's own instead of the queued one, a stream of readers may keep a
 * writer out for as long as it lasts, with its interrupts off. There the lock
 * is a spinlock, which inherits priority or is fair. With
 * REVENTFD_FORCE_RWLOCK it is not, to show what that is good for.
 */
#if (defined(CONFIG_PREEMPT_RT) || !defined(CONFIG_QUEUED_RWLOCKS)) && \
	!defined(REVENTFD_FORCE_RWLOCK)
typedef spinlock_t reventfd_lock_t;
#define reventfd_lock_init(lock)		spin_lock_init(lock)
#define reventfd_shared_lock(lock, flags)	spin_lock_irqsave(lock, flags)
#define reventfd_shared_unlock(lock, flags)	spin_unlock_irqrestore(lock, flags)
#define reventfd_exclusive_lock(lock)		spin_lock_irq(lock)
#define reventfd_exclusive_unlock(lock)		spin_unlock_irq(lock)
#define reventfd_assert_exclusive(lock)		lockdep_assert_held(lock)
#else
typedef rwlock_t reventfd_lock_t;
#define reventfd_lock_init(lock)		rwlock_init(lock)
#define reventfd_shared_lock(lock, flags)	read_lock_irqsave(lock, flags)
#define reventfd_shared_unlock(lock, flags)	read_unlock_irqrestore(lock, flags)
#define reventfd_exclusive_lock(lock)		write_lock_irq(lock)
#define reventfd_exclusive_unlock(lock)		write_unlock_irq(lock)
#define reventfd_assert_exclusive(lock)		lockdep_assert_held_write(lock)
#endif

#endif /* _REVENTFD_COMPAT_H */
