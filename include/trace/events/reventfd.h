/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints reventfd:write, wake, defer, expire and drain. What tools
 * see of them stays as it is: docs/tracing.md has each field and its unit.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM reventfd

#if !defined(_TRACE_REVENTFD_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_REVENTFD_H

#include <linux/tracepoint.h>

/* Events were added, by a write or by another module's signal. */
TRACE_EVENT(write,

	TP_PROTO(int id, u64 n, u64 count, bool owed),

	TP_ARGS(id, n, count, owed),

	TP_STRUCT__entry(
		__field(u64,	n)
		__field(u64,	count)
		__field(int,	id)
		__field(bool,	owed)
	),

	TP_fast_assign(
		__entry->n = n;
		__entry->count = count;
		__entry->id = id;
		__entry->owed = owed;
	),

	TP_printk("id=%d n=%llu count=%llu owed=%d", __entry->id, __entry->n,
		  __entry->count, __entry->owed)
);

/* The consumer's side is about to be woken. */
TRACE_EVENT(wake,

	TP_PROTO(int id, u64 count, bool readers, bool pollers),

	TP_ARGS(id, count, readers, pollers),

	TP_STRUCT__entry(
		__field(u64,	count)
		__field(int,	id)
		__field(bool,	readers)
		__field(bool,	pollers)
	),

	TP_fast_assign(
		__entry->count = count;
		__entry->id = id;
		__entry->readers = readers;
		__entry->pollers = pollers;
	),

	TP_printk("id=%d count=%llu readers=%d pollers=%d", __entry->id, __entry->count,
		  __entry->readers, __entry->pollers)
);

/* There is no token for a wakeup: from now on it is owed. */
TRACE_EVENT(defer,

	TP_PROTO(int id, u64 count, u64 delay),

	TP_ARGS(id, count, delay),

	TP_STRUCT__entry(
		__field(u64,	count)
		__field(u64,	delay)
		__field(int,	id)
	),

	TP_fast_assign(
		__entry->count = count;
		__entry->delay = delay;
		__entry->id = id;
	),

	TP_printk("id=%d count=%llu delay=%llu", __entry->id, __entry->count,
		  __entry->delay)
);

/* The timer for an owed wakeup expired. */
TRACE_EVENT(expire,

	TP_PROTO(int id, u64 count, u64 late, bool owed),

	TP_ARGS(id, count, late, owed),

	TP_STRUCT__entry(
		__field(u64,	count)
		__field(u64,	late)
		__field(int,	id)
		__field(bool,	owed)
	),

	TP_fast_assign(
		__entry->count = count;
		__entry->late = late;
		__entry->id = id;
		__entry->owed = owed;
	),

	TP_printk("id=%d count=%llu late=%llu owed=%d", __entry->id, __entry->count,
		  __entry->late, __entry->owed)
);

/* A read took events. */
TRACE_EVENT(drain,

	TP_PROTO(int id, u64 n, u64 count),

	TP_ARGS(id, n, count),

	TP_STRUCT__entry(
		__field(u64,	n)
		__field(u64,	count)
		__field(int,	id)
	),

	TP_fast_assign(
		__entry->n = n;
		__entry->count = count;
		__entry->id = id;
	),

	TP_printk("id=%d n=%llu count=%llu", __entry->id, __entry->n, __entry->count)
);

#endif /* _TRACE_REVENTFD_H */

#include <trace/define_trace.h>
