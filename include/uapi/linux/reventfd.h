/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The user-space interface of /dev/reventfd. docs/reventfd.rst describes each
 * command, its units and its errors.
 */
#ifndef _UAPI_LINUX_REVENTFD_H
#define _UAPI_LINUX_REVENTFD_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct eventfd_qos - a wakeup limit, in the form eventfd was once proposed
 * @token_capacity: wakeups that may follow each other at once; at least 1
 * @token_rate: wakeups per second, at most %REVENTFD_RATE_MAX; 0: no limit
 */
struct eventfd_qos {
	__u32 token_capacity;
	__u32 token_rate;
};

#define EFD_IOC_SET_QOS		_IOW('E', 0, struct eventfd_qos)
#define EFD_IOC_GET_QOS		_IOR('E', 0, struct eventfd_qos)

/*
 * The count is kept in parts, a part for each CPU: many producers do not
 * meet, and a read costs a little more.
 */
#define REVENTFD_SHARDED	(1U << 31)

/**
 * struct reventfd_create - what REVENTFD_IOC_CREATE makes
 * @count: the counter's initial value, at most 2^64 - 2
 * @flags: %EFD_SEMAPHORE, %EFD_NONBLOCK, %EFD_CLOEXEC of <sys/eventfd.h>,
 *	%REVENTFD_SHARDED
 * @pad: zero
 */
struct reventfd_create {
	__u64 count;
	__u32 flags;
	__u32 pad;
};

#define REVENTFD_RATE_MAX	1000000000U

/* Readiness is not limited with the wakeups: poll() always tells the truth. */
#define REVENTFD_LIMIT_WAKE_ONLY	(1U << 0)

/**
 * struct reventfd_limit - how often the consumer may be woken
 * @rate: wakeups per second, at most %REVENTFD_RATE_MAX; 0: no limit
 * @burst: wakeups that may follow each other at once; at least 1 with a rate
 * @flags: %REVENTFD_LIMIT_WAKE_ONLY or 0
 * @pad: zero
 */
struct reventfd_limit {
	__u32 rate;
	__u32 burst;
	__u32 flags;
	__u32 pad;
};

/**
 * struct reventfd_stats - what happened since the counter was made
 * @writes: writes that were added to the counter, and kernel modules' signals
 * @reads: reads that took something from it
 * @wakeups: times the consumer's side was woken; under a limit, tokens spent
 * @deferred: times a wakeup had to wait for its token
 * @timer_fires: times the timer for such a wakeup expired
 */
struct reventfd_stats {
	__u64 writes;
	__u64 reads;
	__u64 wakeups;
	__u64 deferred;
	__u64 timer_fires;
};

/*
 * The size in the command is that of the caller's structure. A shorter one
 * than the first published is EINVAL; a longer one, from a newer header, is
 * accepted as long as what this kernel does not know is zero, else E2BIG.
 */
#define REVENTFD_IOC_CREATE	_IOW(0xEF, 0, struct reventfd_create)
#define REVENTFD_IOC_SET_LIMIT	_IOW(0xEF, 1, struct reventfd_limit)
#define REVENTFD_IOC_GET_LIMIT	_IOR(0xEF, 1, struct reventfd_limit)
#define REVENTFD_IOC_GET_STATS	_IOR(0xEF, 2, struct reventfd_stats)

#endif /* _UAPI_LINUX_REVENTFD_H */
