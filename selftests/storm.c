// SPDX-License-Identifier: GPL-2.0
/*
 * The storm: one publisher writes as fast as it can, one subscriber, another
 * process, waits and reads. Side by side on eventfd(2), on /dev/reventfd, and
 * on /dev/reventfd with a limit, for a subscriber that polls and reads and
 * for one that uses epoll.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "counter.h"

static struct {
	int publisher_cpu;
	int subscriber_cpu;
	uint32_t rate;
	uint32_t capacity;
	int seconds;
} options = { 0, 1, 1000, 2, 3 };

enum how { POLL, EPOLL };

struct run {
	const char *name;
	enum kind kind;
	bool limited;
	enum how how;
};

#define RUNS 6

static const struct run runs[RUNS] = {
	{ "eventfd", EVENTFD, false, POLL },
	{ "reventfd", OPENED, false, POLL },
	{ "reventfd limited", OPENED, true, POLL },
	{ "eventfd", EVENTFD, false, EPOLL },
	{ "reventfd", OPENED, false, EPOLL },
	{ "reventfd limited", OPENED, true, EPOLL },
};

/* Written by one process, read by another. */
struct result {
	/* Set before the last write is made, so that its reader knows it. */
	uint64_t total;
	uint64_t sent;
	uint64_t received;
	uint64_t wakeups;
	uint64_t switches;
	uint64_t cpu_ns;
	uint64_t elapsed_ns;
	uint64_t publisher_ns;
};

static void fail(const char *what)
{
	fprintf(stderr, "storm: %s: %s\n", what, strerror(errno));
	if (errno == ENOENT)
		fprintf(stderr, "  Is the module loaded? Try 'modprobe reventfd'.\n");
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("cannot run on the CPU asked for");
}

static void publish(int fd, struct result *r)
{
	uint64_t start = now_ns(), end = start + options.seconds * NSEC, sent = 0;

	pin(options.publisher_cpu);
	/* The clock costs as much as a write: it is looked at seldom. */
	while (now_ns() < end)
		for (int i = 0; i < 100; i++, sent++)
			if (put(fd, 1) != 8)
				fail("write");
	r->sent = sent + 1;
	__atomic_store_n(&r->total, sent + 1, __ATOMIC_RELEASE);
	if (put(fd, 1) != 8)
		fail("write");
	r->publisher_ns = now_ns() - start;
}

static uint64_t cpu_ns(const struct rusage *u)
{
	return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * NSEC +
	       (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000ULL;
}

static void subscribe(int fd, enum how how, struct result *r)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN };
	uint64_t start = now_ns(), received = 0, wakeups = 0;
	struct rusage before, after;
	int epoll = epoll_create1(0);

	pin(options.subscriber_cpu);
	if (how == EPOLL && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
		fail("epoll_ctl");
	getrusage(RUSAGE_SELF, &before);
	while (received != __atomic_load_n(&r->total, __ATOMIC_ACQUIRE)) {
		if ((how == EPOLL ? epoll_wait(epoll, &e, 1, -1) : poll(&p, 1, -1)) != 1)
			fail("poll");
		wakeups++;
		received += get(fd);
	}
	getrusage(RUSAGE_SELF, &after);
	r->elapsed_ns = now_ns() - start;
	r->received = received;
	r->wakeups = wakeups;
	r->switches = after.ru_nvcsw - before.ru_nvcsw;
	r->cpu_ns = cpu_ns(&after) - cpu_ns(&before);
}

static void storm(const struct run *run, struct result *r)
{
	struct eventfd_qos qos = { options.capacity, options.rate };
	pid_t publisher, subscriber;
	int fd, status[2];

	r->total = UINT64_MAX;
	fd = counter(run->kind, 0);
	if (fd < 0)
		fail(run->kind == EVENTFD ? "eventfd" : "/dev/reventfd");
	if (run->limited && ioctl(fd, EFD_IOC_SET_QOS, &qos))
		fail("EFD_IOC_SET_QOS");
	fflush(stdout);
	subscriber = fork();
	if (!subscriber) {
		subscribe(fd, run->how, r);
		_exit(0);
	}
	publisher = fork();
	if (!publisher) {
		publish(fd, r);
		_exit(0);
	}
	if (publisher < 0 || subscriber < 0)
		fail("fork");
	waitpid(publisher, &status[0], 0);
	waitpid(subscriber, &status[1], 0);
	if (status[0] || status[1])
		exit(1);
	close(fd);
}

static uint64_t bound(const struct result *r)
{
	return options.capacity + (uint64_t)options.rate * r->elapsed_ns / NSEC;
}

static void print_row(const struct run *run, const struct result *r)
{
	printf("%-10s %-17s %11llu %11llu %10llu %10llu %6.1f %% %9.0f\n",
	       run->how == EPOLL ? "epoll" : "poll;read", run->name,
	       (unsigned long long)r->sent, (unsigned long long)r->received,
	       (unsigned long long)r->wakeups, (unsigned long long)r->switches,
	       100.0 * r->cpu_ns / r->elapsed_ns, (double)r->publisher_ns / r->sent);
	fflush(stdout);
}

static void say_how(FILE *to)
{
	fprintf(to, "usage: storm [-p CPU] [-s CPU] [-r RATE] [-c CAPACITY] [-t SECONDS]\n"
		"  -p  the publisher's CPU (0)    -s  the subscriber's CPU (1)\n"
		"  -r  wakeups per second (1000)  -c  wakeups at once (2)\n"
		"  -t  seconds for each storm (3)\n");
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "p:s:r:c:t:h")) != -1) {
		switch (c) {
		case 'p':
			options.publisher_cpu = atoi(optarg);
			break;
		case 's':
			options.subscriber_cpu = atoi(optarg);
			break;
		case 'r':
			options.rate = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			options.capacity = strtoul(optarg, NULL, 0);
			break;
		case 't':
			options.seconds = atoi(optarg);
			break;
		default:
			say_how(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
}

int main(int argc, char **argv)
{
	struct result *r;

	parse(argc, argv);
	r = mmap(NULL, RUNS * sizeof(*r), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		fail("mmap");

	printf("%d s each; the limit: %u wakeups/s, %u at once\n\n", options.seconds,
	       options.rate, options.capacity);
	printf("%-10s %-17s %11s %11s %10s %10s %8s %9s\n", "", "", "events", "events",
	       "subscriber", "context", "CPU of", "publisher");
	printf("%-10s %-17s %11s %11s %10s %10s %8s %9s\n", "subscriber", "counter", "sent",
	       "received", "wakeups", "switches", "subscr.", "ns/write");
	for (size_t i = 0; i < RUNS; i++) {
		storm(&runs[i], &r[i]);
		print_row(&runs[i], &r[i]);
	}
	printf("\ndemo: sent=%llu received=%llu ",
	       (unsigned long long)r[2].sent, (unsigned long long)r[2].received);
	printf("eventfd_wakeups=%llu reventfd_wakeups=%llu bound=%llu\n",
	       (unsigned long long)r[0].wakeups, (unsigned long long)r[2].wakeups,
	       (unsigned long long)bound(&r[2]));
	return 0;
}
