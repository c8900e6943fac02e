// SPDX-License-Identifier: GPL-2.0
/*
 * What if there is no memory, or user memory goes away: each call is made again
 * and again, and the first, the second, the third ... allocation or copy in it
 * fails, until there is none left to fail. A call succeeds or says why not;
 * what it was for is not half done; and nothing is left behind.
 *
 * The kernel fails what it is told to through /proc/thread-self/fail-nth, if it is
 * built for it. scripts/guest/leaks looks for lost memory afterwards.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/uio.h>

#include "kmsg.h"

#define NTH_MAX		400	/* no call has so many points */
#define MANY		1500	/* counters, to use up what the kernel has in stock */

static int nth_fd;
static int fd;		/* the counter under test */
static int spare;	/* an epoll instance, or what the call made */

/* Arms the @nth point from here. */
static void arm(int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(nth_fd, text, n, 0) != n)
		abort();
}

/* Says whether the point was reached, and disarms what was not. */
static bool fired(void)
{
	int err = errno;
	char text[16] = "";
	bool done;

	/* This copies, too: what it fails was not reached before. */
	done = pread(nth_fd, text, sizeof(text), 0) > 0 && text[0] == '0';
	while (pwrite(nth_fd, "0", 1, 0) != 1)
		;
	errno = err;
	return done;
}

struct call {
	const char *name;
	void (*before)(void);
	long (*make)(void);
	/* What the counter holds afterwards, if the call failed or succeeded. */
	bool (*right)(long ret);
	int answers[4];
};

static void with_seven(void)
{
	fd = counter(OPENED, EFD_NONBLOCK);
	put(fd, 7);
}

static void with_shards(void)
{
	fd = counter(SHARDED, EFD_NONBLOCK);
	put(fd, 7);
}

static void with_epoll(void)
{
	with_seven();
	spare = epoll_create1(0);
}

static void with_limit(void)
{
	with_seven();
	limit(fd, 1000, 3, REVENTFD_LIMIT_WAKE_ONLY);
}

static void nothing(void) { }

static long make_opened(void)
{
	return fd = open("/dev/reventfd", O_RDWR | O_NONBLOCK);
}

static long make(uint32_t flags)
{
	struct reventfd_create create = { .count = 3, .flags = flags | EFD_NONBLOCK };

	return spare = ioctl(fd, REVENTFD_IOC_CREATE, &create);
}

static long make_plain(void)
{
	return make(0);
}

static long make_sharded(void)
{
	return make(REVENTFD_SHARDED);
}

static long make_semaphore(void)
{
	return make(EFD_SEMAPHORE);
}

static long set_limit(void)
{
	return limit(fd, 5, 2, 0);
}

static long set_qos(void)
{
	struct eventfd_qos qos = { .token_capacity = 2, .token_rate = 5 };

	return ioctl(fd, EFD_IOC_SET_QOS, &qos);
}

static union {
	struct reventfd_limit limit;
	struct eventfd_qos qos;
	struct reventfd_stats stats;
	char longer[128];
} out;

static long get_limit(void)
{
	return ioctl(fd, REVENTFD_IOC_GET_LIMIT, &out);
}

static long get_longer_limit(void)
{
	return ioctl(fd, _IOR(0xEF, 1, out), &out);
}

static long get_qos(void)
{
	return ioctl(fd, EFD_IOC_GET_QOS, &out);
}

static long get_stats(void)
{
	return ioctl(fd, REVENTFD_IOC_GET_STATS, &out);
}

static uint64_t value[2];

static long call_read(void)
{
	return read(fd, value, 8);
}

static long call_readv(void)
{
	struct iovec v[2] = { { value, 4 }, { (char *)value + 4, 4 } };

	return readv(fd, v, 2);
}

static long call_write(void)
{
	value[0] = 2;
	return write(fd, value, 8);
}

static long call_writev(void)
{
	struct iovec v[2] = { { value, 8 }, { value + 1, 8 } };

	value[0] = 2;
	value[1] = 2;
	return writev(fd, v, 2);
}

static long call_poll(void)
{
	struct pollfd p[12];

	/* More than fit on the kernel's stack, and nothing that ends it at once. */
	for (int i = 0; i < 12; i++)
		p[i] = (struct pollfd){ .fd = fd, .events = POLLPRI };
	return poll(p, 12, 1);
}

static long call_select(void)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(fd, &in);
	return select(fd + 1, &in, NULL, NULL, &(struct timeval){ 0 });
}

static long call_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(spare, EPOLL_CTL_ADD, fd, &e);
}

static long call_fdinfo(void)
{
	char path[64], text[1024];
	int file;
	long n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = open(path, O_RDONLY);
	if (file < 0)
		return -1;
	n = read(file, text, sizeof(text));
	close(file);
	return n;
}

/* Nothing was added and nothing taken. */
static bool still_seven(long ret)
{
	return get(fd) == 7;
}

static bool is_made(long ret)
{
	return ret < 0 || (put(ret, 4) == 8 && get(ret) == 4);
}

static bool is_created(long ret)
{
	int64_t should = 3;

	if (ret >= 0 && info(ret, "eventfd-semaphore") == 1)
		should = 1;
	return (ret < 0 || get(ret) == should) && get(fd) == 7;
}

/* Set as a whole, or not at all. */
static bool is_limited(long ret)
{
	struct reventfd_limit l;

	ioctl(fd, REVENTFD_IOC_GET_LIMIT, &l);
	return l.rate == (ret ? 1000 : 5) && l.burst == (ret ? 3 : 2) &&
	       l.flags == (ret ? REVENTFD_LIMIT_WAKE_ONLY : 0) && still_seven(ret);
}

/* As eventfd's, a read takes before it copies: what it cannot copy is gone. */
static bool is_taken(long ret)
{
	return get(fd) == -EAGAIN && (ret < 0 || (ret == 8 && value[0] == 7));
}

/* A fault in the copy of the vector itself comes before anything is taken. */
static bool is_taken_or_left(long ret)
{
	int64_t left = get(fd);

	if (ret < 0)
		return left == 7 || left == -EAGAIN;
	return left == -EAGAIN && ret == 8 && value[0] == 7;
}

static bool is_added(long ret)
{
	return get(fd) == 7 + (ret > 0 ? ret / 8 * 2 : 0) && (ret < 0 || ret % 8 == 0);
}

static bool has_limit(long ret)
{
	return (ret || out.limit.rate == 1000) && still_seven(ret);
}

static bool has_qos(long ret)
{
	return (ret || out.qos.token_rate == 1000) && still_seven(ret);
}

static bool has_stats(long ret)
{
	return (ret || out.stats.writes == 1) && still_seven(ret);
}

static const struct call calls[] = {
	{ "open", nothing, make_opened, is_made, { ENOMEM, ENFILE, EFAULT } },
	{ "create", with_seven, make_plain, is_created, { ENOMEM, ENFILE, EFAULT } },
	{ "create_sharded", with_seven, make_sharded, is_created, { ENOMEM, ENFILE, EFAULT } },
	{ "create_semaphore", with_seven, make_semaphore, is_created, { ENOMEM, ENFILE, EFAULT } },
	{ "set_limit", with_limit, set_limit, is_limited, { EFAULT } },
	{ "set_qos", with_limit, set_qos, is_limited, { EFAULT } },
	{ "get_limit", with_limit, get_limit, has_limit, { EFAULT } },
	{ "get_longer_limit", with_limit, get_longer_limit, has_limit, { EFAULT } },
	{ "get_qos", with_limit, get_qos, has_qos, { EFAULT } },
	{ "get_stats", with_seven, get_stats, has_stats, { EFAULT } },
	{ "read", with_seven, call_read, is_taken, { EFAULT } },
	{ "read_sharded", with_shards, call_read, is_taken, { EFAULT } },
	{ "write", with_seven, call_write, is_added, { EFAULT } },
	{ "write_sharded", with_shards, call_write, is_added, { EFAULT } },
	{ "readv", with_seven, call_readv, is_taken_or_left, { EFAULT, ENOMEM } },
	{ "writev", with_seven, call_writev, is_added, { EFAULT, ENOMEM } },
	{ "poll", with_seven, call_poll, still_seven, { ENOMEM, EFAULT } },
	{ "select", with_seven, call_select, still_seven, { ENOMEM, EFAULT } },
	{ "epoll_ctl", with_epoll, call_epoll, still_seven, { ENOMEM, EFAULT } },
	{ "fdinfo", with_seven, call_fdinfo, still_seven, { ENOMEM, EFAULT, ENOENT } },
};

/* A number that is the same again if no descriptor is lost. */
static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0, next[16];

	while (readdir(dir))
		n++;
	closedir(dir);
	/* One that was reserved and is not open is not seen, but not free either. */
	for (int i = 0; i < 16; i++) {
		next[i] = dup(STDIN_FILENO);
		n += next[i];
	}
	for (int i = 0; i < 16; i++)
		close(next[i]);
	return n;
}

static bool documented(const struct call *c, int err)
{
	for (int i = 0; i < 4; i++)
		if (c->answers[i] == err)
			return true;
	return false;
}

/* Returns how many points there are in the call, or -1. */
static int inject(const struct call *c)
{
	int before = descriptors(), err;
	bool reached = true, right = true;
	long ret;
	int nth;

	for (nth = 1; reached && nth < NTH_MAX; nth++) {
		fd = -1;
		spare = -1;
		c->before();
		arm(nth);
		errno = 0;
		ret = c->make();
		err = ret < 0 ? errno : 0;
		reached = fired();
		right = c->right(ret);
		if (fd >= 0)
			close(fd);
		if (spare >= 0)
			close(spare);
		if (!right || (ret < 0 && !documented(c, err)) || descriptors() != before) {
			printf("# %s, point %d: returned %ld, %s; %s; %s\n", c->name, nth, ret,
			       strerror(err), right ? "right" : "not as it should be",
			       descriptors() == before ? "no descriptor lost" : "one lost");
			return -1;
		}
	}
	return nth - 2;
}

static void set(const char *attribute, const char *name, const char *value)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", attribute, name);
	file = open(path, O_WRONLY);
	if (file >= 0 && write(file, value, strlen(value)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(file);
}

static void set_all(const char *name, const char *value)
{
	set("failslab", name, value);
	set("fail_page_alloc", name, value);
	set("fail_usercopy", name, value);
}

/* From now on only what is called by the module fails. */
static void only_ours(void)
{
	unsigned long long base = 0;
	char line[256], text[32];
	FILE *f = fopen("/proc/modules", "r");
	unsigned long size = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "reventfd %lu %*s %*s %*s %llx", &size, &base) == 2)
			break;
	if (f)
		fclose(f);
	snprintf(text, sizeof(text), "%#llx", base);
	set_all("require-start", text);
	snprintf(text, sizeof(text), "%#llx", base + size);
	set_all("require-end", text);
}

/*
 * Memory comes out of stock, but for some opens in many, which need a new page,
 * or more of the memory for a count per CPU. Returns how many failed, or -1.
 */
static int run_out_of_stock(void)
{
	static int kept[MANY];
	int n = 0, nth = 1, failed = 0, wrong = 0;
	bool reached;

	silence_console();
	while (n < MANY && nth < NTH_MAX) {
		arm(nth);
		kept[n] = open("/dev/reventfd", O_RDWR | O_NONBLOCK);
		wrong += kept[n] < 0 && errno != ENOMEM;
		reached = fired();
		failed += kept[n] < 0;
		nth = reached ? nth + 1 : 1;
		if (kept[n] >= 0)
			n++;
	}
	for (int i = 0; i < n; i++) {
		wrong += put(kept[i], i + 1) != 8 || get(kept[i]) != i + 1;
		close(kept[i]);
	}
	wrong += unsilence_console("percpu: allocation failed", &nth);
	return wrong || n < MANY ? -1 : failed;
}

static int number, failures;

static void result(bool good, const char *what)
{
	failures += !good;
	printf("%sok %d %s\n", good ? "" : "not ", ++number, what);
}

static long long next_id(void)
{
	int one = counter(OPENED, 0);
	long long id = info(one, "eventfd-id");

	close(one);
	return id;
}

static void prepare(void)
{
	struct rlimit files = { MANY + 100, MANY + 100 };

	setrlimit(RLIMIT_NOFILE, &files);
	/* A page fault of ours is not what is to fail. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	set_all("verbose", "0");
	set("failslab", "ignore-gfp-wait", "N");
	set("fail_page_alloc", "ignore-gfp-wait", "N");
	set("fail_page_alloc", "ignore-gfp-highmem", "N");
	set("fail_page_alloc", "min-order", "0");
}

int main(void)
{
	int tests = sizeof(calls) / sizeof(*calls), points, sum = 0, all[64];
	long long id;

	setvbuf(stdout, NULL, _IOLBF, 0);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0 || access("/sys/kernel/debug/fail_usercopy", F_OK)) {
		printf("TAP version 13\n1..1\nok 1 faults # SKIP this kernel injects no faults\n");
		return 0;
	}
	printf("TAP version 13\n1..%d\n", tests + 2);
	prepare();
	id = next_id();
	for (int i = 0; i < tests; i++)
		all[i] = inject(&calls[i]);
	only_ours();
	for (int i = 0; i < tests; i++) {
		points = inject(&calls[i]);
		printf("# %s: %d points in the whole call, %d in what the module does\n",
		       calls[i].name, all[i], points);
		sum += points;
		result(all[i] >= 0 && points >= 0, calls[i].name);
	}
	points = run_out_of_stock();
	printf("# %d points in calls, %d in %d opens in a row\n", sum, points, MANY);
	result(points > 0, "opens_in_a_row");
	result(next_id() == id, "no_counter_is_left");
	return failures != 0;
}
