/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of signals share: asking the sample module to send them. */
#ifndef _SELFTESTS_SIGNALS_H
#define _SELFTESTS_SIGNALS_H

#include "counter.h"
#include "../samples/client.h"

static inline int open_client(void)
{
	return open("/dev/reventfd-client", O_RDWR);
}

static inline int attach(int client, int fd, enum kind kind)
{
	struct reventfd_client_attach a = {
		.fd = fd,
		.kind = kind == EVENTFD ? REVENTFD_CLIENT_EVENTFD : REVENTFD_CLIENT_REVENTFD,
	};

	return ioctl(client, REVENTFD_CLIENT_ATTACH, &a);
}

/* What was added, as far as the kernel says, or -errno. */
static inline int64_t signal_from(int client, uint32_t context, uint64_t n)
{
	struct reventfd_client_signal s = { .n = n, .context = context };

	return ioctl(client, REVENTFD_CLIENT_SIGNAL, &s) ? -errno : (int64_t)s.added;
}

static inline int64_t signal_by(int client, uint64_t n)
{
	return signal_from(client, REVENTFD_CLIENT_TASK, n);
}

static inline struct reventfd_client_relayed relayed(int client)
{
	struct reventfd_client_relayed r = { 0 };

	ioctl(client, REVENTFD_CLIENT_RELAYED, &r);
	return r;
}

/* @client signals its counter whenever @fd becomes readable. */
static inline int relay(int client, int fd)
{
	return ioctl(client, REVENTFD_CLIENT_RELAY, &fd);
}

#endif
