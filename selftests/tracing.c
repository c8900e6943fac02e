// SPDX-License-Identifier: GPL-2.0
/*
 * What tracing shows: the events of a known course of things, with their
 * values. eventfd(2) has no tracepoints to compare with; the judge is what the
 * counter itself says of what happened.
 *
 * The one buffer of the machine is used: to make one for each test takes the
 * kernel a second, since it comes with all events of the kernel.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "kselftest_harness.h"

#include "signals.h"

#define TRACEFS "/sys/kernel/tracing"
#define WRITERS 3

static const char *const names[] = { "write", "wake", "defer", "expire", "drain" };

static bool tell(const char *file, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), TRACEFS "/%s", file);
	f = fopen(path, "w");
	if (!f)
		return false;
	fputs(text, f);
	return !fclose(f);
}

/* The buffer empty, and the events of counter @id alone on their way there. */
static bool trace_on(int id)
{
	char filter[32];

	snprintf(filter, sizeof(filter), "id == %d", id);
	return tell("trace", "") && tell("events/reventfd/filter", filter) &&
	       tell("events/reventfd/enable", "1");
}

/* Numbers that a clock had a part in become '*', after a look whether they can be. */
static void blank_times(char *line)
{
	static const char *const keys[] = { " delay=", " late=" };
	size_t n;
	char *p;

	for (int i = 0; i < 2; i++) {
		p = strstr(line, keys[i]);
		if (!p)
			continue;
		p += strlen(keys[i]);
		/* No token is a second away at 1/s, and a debt is due in the future. */
		if (!i && (strtoull(p, NULL, 10) > NSEC || *p == '0'))
			continue;
		*p = '*';
		n = strspn(p + 1, "0123456789");
		memmove(p + 1, p + 1 + n, strlen(p + 1 + n) + 1);
	}
}

/*
 * What has been traced since the last look, an event a line: its name and its
 * fields, without the counter's id, which all have.
 */
static const char *traced(int id)
{
	static char text[4096];
	char line[256], mark[32];
	size_t n = 0;
	FILE *f;

	text[0] = 0;
	snprintf(mark, sizeof(mark), ": id=%d ", id);
	f = fopen(TRACEFS "/trace", "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *fields = strstr(line, mark), *name = fields;

		if (line[0] == '#')
			continue;
		if (!fields)
			return "not an event of this counter";
		*fields = 0;
		while (name > line && name[-1] != ' ')
			name--;
		fields += strlen(mark);
		blank_times(fields - 1);
		n += snprintf(text + n, sizeof(text) - n, "%s %s", name, fields);
	}
	if (f)
		fclose(f);
	/* Opening it so empties it. */
	tell("trace", "");
	return text;
}

/* All events there have been, those that the buffer had no room for as well. */
static uint64_t recorded(void)
{
	uint64_t sum = 0, n;
	char path[128], line[128];
	FILE *f;

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		snprintf(path, sizeof(path), TRACEFS "/per_cpu/cpu%d/stats", cpu);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "entries: %" SCNu64, &n) == 1 ||
			    sscanf(line, "overrun: %" SCNu64, &n) == 1 ||
			    sscanf(line, "dropped events: %" SCNu64, &n) == 1)
				sum += n;
		if (f)
			fclose(f);
	}
	return sum;
}

FIXTURE(tracing) {
	int fd;
	int id;
};

FIXTURE_VARIANT(tracing) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(tracing, opened) { .kind = OPENED };
FIXTURE_VARIANT_ADD(tracing, sharded) { .kind = SHARDED };

FIXTURE_SETUP(tracing)
{
	if (access(TRACEFS "/events/reventfd", F_OK))
		SKIP(return, "this kernel has no tracing");
	self->fd = counter(variant->kind, EFD_NONBLOCK);
	self->id = info(self->fd, "eventfd-id");
	ASSERT_LE(0, self->id);
	ASSERT_TRUE(trace_on(self->id));
}

FIXTURE_TEARDOWN(tracing)
{
	close(self->fd);
	tell("events/reventfd/enable", "0");
	tell("events/reventfd/filter", "0");
}

TEST_F(tracing, writes_and_drains_of_a_counter_that_nobody_waits_for)
{
	put(self->fd, 3);
	put(self->fd, 0);
	put(self->fd, 1ULL << 40);
	ASSERT_EQ(3 + (1LL << 40), get(self->fd));
	ASSERT_EQ(-EAGAIN, get(self->fd));
	EXPECT_STREQ("write n=3 count=3 owed=0\n"
		     "write n=0 count=3 owed=0\n"
		     "write n=1099511627776 count=1099511627779 owed=0\n"
		     "drain n=1099511627779 count=0\n", traced(self->id));
}

TEST_F(tracing, writes_that_do_not_fit_are_none)
{
	put(self->fd, COUNT_MAX);
	ASSERT_EQ(-1, put(self->fd, 1));
	ASSERT_EQ(-1, put(self->fd, UINT64_MAX));
	EXPECT_STREQ("write n=18446744073709551614 count=18446744073709551614 owed=0\n",
		     traced(self->id));
}

TEST_F(tracing, a_semaphores_reads)
{
	uint32_t sharded = variant->kind == SHARDED ? REVENTFD_SHARDED : 0;
	int fd = created(1, EFD_SEMAPHORE | EFD_NONBLOCK | sharded);
	int id = info(fd, "eventfd-id");

	ASSERT_TRUE(trace_on(id));
	put(fd, 1);
	ASSERT_EQ(1, get(fd));
	ASSERT_EQ(1, get(fd));
	ASSERT_EQ(-EAGAIN, get(fd));
	EXPECT_STREQ("write n=1 count=2 owed=0\n"
		     "drain n=1 count=1\n"
		     "drain n=1 count=0\n", traced(id));
	close(fd);
}

static pid_t reader_tid;

static void *read_one(void *arg)
{
	__atomic_store_n(&reader_tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	return (void *)(intptr_t)get(*(int *)arg);
}

TEST_F(tracing, a_write_that_wakes_a_reader)
{
	pthread_t thread;
	void *taken;

	fcntl(self->fd, F_SETFL, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, read_one, &self->fd));
	while (!__atomic_load_n(&reader_tid, __ATOMIC_SEQ_CST))
		sched_yield();
	await_asleep(getpid(), reader_tid, SYS_read);
	put(self->fd, 5);
	pthread_join(thread, &taken);
	EXPECT_EQ(5, (intptr_t)taken);
	EXPECT_STREQ("write n=5 count=5 owed=0\n"
		     "wake count=5 readers=1 pollers=0\n"
		     "drain n=5 count=0\n", traced(self->id));
}

TEST_F(tracing, a_write_that_wakes_a_poller)
{
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &e));
	put(self->fd, 5);
	put(self->fd, 1);
	EXPECT_STREQ("write n=5 count=5 owed=0\n"
		     "wake count=5 readers=0 pollers=1\n"
		     "write n=1 count=6 owed=0\n"
		     "wake count=6 readers=0 pollers=1\n", traced(self->id));
	close(epoll);
}

TEST_F(tracing, a_wakeup_that_is_deferred_until_its_token_is_there)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct reventfd_stats s;

	ASSERT_EQ(0, limit(self->fd, 1, 1, 0));
	put(self->fd, 1);
	ASSERT_EQ(1, get(self->fd));
	put(self->fd, 2);
	put(self->fd, 4);
	ASSERT_EQ(1, poll(&p, 1, -1));
	ASSERT_EQ(6, get(self->fd));
	EXPECT_EQ(9, recorded());
	EXPECT_STREQ("write n=1 count=1 owed=0\n"
		     "wake count=1 readers=0 pollers=0\n"
		     "drain n=1 count=0\n"
		     "write n=2 count=2 owed=0\n"
		     "defer count=2 delay=*\n"
		     "write n=4 count=6 owed=1\n"
		     "expire count=6 late=* owed=1\n"
		     "wake count=6 readers=0 pollers=1\n"
		     "drain n=6 count=0\n", traced(self->id));
	s = stats(self->fd);
	EXPECT_EQ(9, s.writes + s.wakeups + s.deferred + s.timer_fires + s.reads);
}

TEST_F(tracing, a_debt_that_a_change_of_the_limit_settles)
{
	ASSERT_EQ(0, limit(self->fd, 1, 1, 0));
	put(self->fd, 1);
	put(self->fd, 2);
	ASSERT_EQ(0, limit(self->fd, 0, 0, 0));
	put(self->fd, 4);
	EXPECT_STREQ("write n=1 count=1 owed=0\n"
		     "wake count=1 readers=0 pollers=0\n"
		     "write n=2 count=3 owed=0\n"
		     "defer count=3 delay=*\n"
		     "wake count=3 readers=0 pollers=0\n"
		     "write n=4 count=7 owed=0\n", traced(self->id));
}

TEST_F(tracing, signals_from_every_context)
{
	int client = open_client();
	char expected[512] = "";
	uint64_t sum = 0;
	size_t n = 0;

	ASSERT_EQ(0, attach(client, self->fd, variant->kind));
	for (uint32_t context = 0; context < REVENTFD_CLIENT_CONTEXTS; context++) {
		if (signal_from(client, context, context + 1) != context + 1)
			continue;
		sum += context + 1;
		n += sprintf(expected + n, "write n=%u count=%" PRIu64 " owed=0\n", context + 1,
			     sum);
	}
	EXPECT_LE(1 + 2, sum);
	signal_by(client, UINT64_MAX);
	sprintf(expected + n, "write n=%" PRIu64 " count=%" PRIu64 " owed=0\n", UINT64_MAX - sum,
		UINT64_MAX);
	EXPECT_STREQ(expected, traced(self->id));
	close(client);
}

/* The wakeup, and its delay, are traced under the locks that a signal's context allows. */
TEST_F(tracing, signals_that_wake_and_are_deferred)
{
	struct epoll_event e = { .events = EPOLLIN };
	int client = open_client(), epoll = epoll_create1(0);

	ASSERT_EQ(0, attach(client, self->fd, variant->kind));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &e));
	signal_from(client, REVENTFD_CLIENT_SOFTIRQ, 1);
	ASSERT_EQ(0, limit(self->fd, 1, 1, 0));
	signal_from(client, REVENTFD_CLIENT_SOFTIRQ, 2);
	signal_from(client, REVENTFD_CLIENT_SOFTIRQ, 3);
	/* The new limit's first token went for what was there when it was set. */
	EXPECT_STREQ("write n=1 count=1 owed=0\n"
		     "wake count=1 readers=0 pollers=1\n"
		     "wake count=1 readers=0 pollers=1\n"
		     "write n=2 count=3 owed=0\n"
		     "defer count=3 delay=*\n"
		     "write n=3 count=6 owed=1\n", traced(self->id));
	close(epoll);
	close(client);
}

static void *write_on(void *arg)
{
	for (int i = 0; i < 2000; i++)
		put(*(int *)arg, 1);
	return NULL;
}

/* Each event stands for one step of the counter's own statistics. */
TEST_F(tracing, nothing_is_left_out_of_a_storm)
{
	struct reventfd_stats s, again;
	pthread_t threads[WRITERS];
	uint64_t sum = 0;
	int64_t n;

	ASSERT_EQ(0, limit(self->fd, 2000, 2, 0));
	for (int i = 0; i < WRITERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, write_on, &self->fd));
	while (sum < 2000 * WRITERS) {
		n = get(self->fd);
		sum += n > 0 ? n : 0;
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	/* A timer that is left has run, or is stopped. */
	ASSERT_EQ(0, limit(self->fd, 0, 0, 0));
	do {
		s = stats(self->fd);
		n = recorded();
		again = stats(self->fd);
	} while (memcmp(&s, &again, sizeof(s)));
	EXPECT_EQ(2000 * WRITERS, s.writes);
	EXPECT_EQ(s.writes + s.wakeups + s.deferred + s.timer_fires + s.reads, n);
}

TEST_F(tracing, nothing_while_it_is_off)
{
	ASSERT_TRUE(tell("events/reventfd/enable", "0"));
	put(self->fd, 3);
	ASSERT_EQ(3, get(self->fd));
	EXPECT_STREQ("", traced(self->id));
	ASSERT_TRUE(tell("events/reventfd/drain/enable", "1"));
	put(self->fd, 3);
	ASSERT_EQ(3, get(self->fd));
	EXPECT_STREQ("drain n=3 count=0\n", traced(self->id));
}

/* The fields' names, sizes and signs, which scripts of others rely on. */
static const char *fields_of(const char *event)
{
	static char text[512];
	char path[128], line[256], *name, *end;
	int size, is_signed;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), TRACEFS "/events/reventfd/%s/format", event);
	text[0] = 0;
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		name = strstr(line, "\tfield:");
		end = strchr(line, ';');
		if (!name || !end || strstr(line, "common_") ||
		    sscanf(strstr(end, "size:"), "size:%d;\tsigned:%d;", &size, &is_signed) != 2)
			continue;
		*end = 0;
		n += sprintf(text + n, "%s:%s%d ", strrchr(line, ' ') + 1, is_signed ? "s" : "u",
			     8 * size);
	}
	if (f)
		fclose(f);
	return text;
}

TEST_F(tracing, the_fields_stay)
{
	static const char *const fields[] = {
		"n:u64 count:u64 id:s32 owed:u8 ",
		"count:u64 id:s32 readers:u8 pollers:u8 ",
		"count:u64 delay:u64 id:s32 ",
		"count:u64 late:u64 id:s32 owed:u8 ",
		"n:u64 count:u64 id:s32 ",
	};

	for (int i = 0; i < 5; i++)
		EXPECT_STREQ(fields[i], fields_of(names[i]));
}

TEST_HARNESS_MAIN
