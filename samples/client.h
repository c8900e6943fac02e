/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What /dev/reventfd-client, the sample module, does on request. Each open of
 * it is a client that holds one counter.
 */
#ifndef _SAMPLES_CLIENT_H
#define _SAMPLES_CLIENT_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* What a descriptor is taken for. An eventfd shows what is expected of the other. */
enum reventfd_client_kind {
	REVENTFD_CLIENT_REVENTFD,
	REVENTFD_CLIENT_EVENTFD,
};

/* Where a signal is sent from. On PREEMPT_RT those marked with * are EOPNOTSUPP. */
enum reventfd_client_context {
	REVENTFD_CLIENT_TASK,
	REVENTFD_CLIENT_SOFTIRQ,	/* a timer that expires in softirq */
	REVENTFD_CLIENT_HARDIRQ,	/* *: one that expires in hard interrupt context */
	REVENTFD_CLIENT_PREEMPT_OFF,	/* * */
	REVENTFD_CLIENT_IRQS_OFF,	/* * */
	REVENTFD_CLIENT_CONTEXTS,
};

/**
 * struct reventfd_client_attach - which counter to hold
 * @fd: a descriptor of it; it may be closed afterwards
 * @kind: enum reventfd_client_kind
 */
struct reventfd_client_attach {
	__s32 fd;
	__u32 kind;
};

/**
 * struct reventfd_client_signal - one signal to the counter that is held
 * @n: how many events
 * @added: comes back: how many of them fitted. Later kernels do not say for an
 *	eventfd; there it is 0.
 * @context: enum reventfd_client_context
 * @pad: zero
 */
struct reventfd_client_signal {
	__u64 n;
	__u64 added;
	__u32 context;
	__u32 pad;
};

/**
 * struct reventfd_client_relayed - what a relay has done so far
 * @direct: wakeups that it answered with a signal at once
 * @put_off: wakeups whose signal it had to put off
 */
struct reventfd_client_relayed {
	__u64 direct;
	__u64 put_off;
};

/* EBADF, EINVAL: no such counter; EBUSY: the client holds one already. */
#define REVENTFD_CLIENT_ATTACH	_IOW(0xEF, 0x40, struct reventfd_client_attach)
/* Stops the relay and lets go of the counter, as closing the client does. */
#define REVENTFD_CLIENT_DETACH	_IO(0xEF, 0x41)
/* ENXIO, as that of the next two: the client holds no counter. */
#define REVENTFD_CLIENT_SIGNAL	_IOWR(0xEF, 0x42, struct reventfd_client_signal)
/* From now on, signal 1 whenever this descriptor becomes readable. */
#define REVENTFD_CLIENT_RELAY	_IOW(0xEF, 0x43, __s32)
#define REVENTFD_CLIENT_RELAYED	_IOR(0xEF, 0x43, struct reventfd_client_relayed)

#endif /* _SAMPLES_CLIENT_H */
