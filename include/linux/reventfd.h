/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What other modules may do with a reventfd: signal it, as they would an
 * eventfd. samples/client.c shows how.
 */
#ifndef _LINUX_REVENTFD_H
#define _LINUX_REVENTFD_H

#include <linux/eventfd.h>
#include <linux/types.h>

struct reventfd_ctx;

struct reventfd_ctx *reventfd_ctx_fdget(int fd);
void reventfd_ctx_put(struct reventfd_ctx *ctx);
u64 reventfd_signal(struct reventfd_ctx *ctx, u64 n);

/**
 * reventfd_signal_allowed - whether reventfd_signal() may be called here
 *
 * It may not while an eventfd or a reventfd wakes its waiters, that is, from
 * their wake functions: such a signal could come round to where it started.
 * Put it off to a work item then. It does not know of the wait queue whose
 * wake function asks: an epoll's is woken from inside a counter that it
 * watches. Where the queue may be an epoll's, always put the signal off.
 *
 * Return: whether it is allowed.
 */
static inline bool reventfd_signal_allowed(void)
{
	return eventfd_signal_allowed();
}

#endif /* _LINUX_REVENTFD_H */
