// SPDX-License-Identifier: GPL-2.0
/*
 * No memory where few calls meet that: while the module is loaded, and for the
 * number that a counter gets. It loads, or opens, or says why not; and nothing
 * stays of what did not.
 */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "kmsg.h"

#define NTH_MAX		400	/* no start has so many points */
#define COUNTERS	200	/* more than have their numbers without an allocation */

static int unload(void)
{
	return syscall(SYS_delete_module, "reventfd", O_NONBLOCK);
}

static int load(int module)
{
	return syscall(SYS_finit_module, module, "", 0);
}

/* Where the rig puts it, with the others' programs or by itself. */
static int open_module(void)
{
	int module = open("./reventfd.ko", O_RDONLY | O_CLOEXEC);

	return module < 0 ? open("/reventfd.ko", O_RDONLY | O_CLOEXEC) : module;
}

static void set(const char *attribute, const char *name, const char *value)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", attribute, name);
	file = open(path, O_WRONLY);
	if (file < 0 || write(file, value, strlen(value)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(file);
}

static void set_both(const char *name, const char *value)
{
	set("failslab", name, value);
	set("fail_page_alloc", name, value);
}

/* The first and the last byte of the kernel's function @name. */
static bool find(const char *name, unsigned long long *start, unsigned long long *end)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	unsigned long long address;
	char line[256], symbol[128];

	*start = *end = 0;
	while (symbols && fgets(line, sizeof(line), symbols) && !*end) {
		if (sscanf(line, "%llx %*c %127s", &address, symbol) != 2)
			continue;
		if (*start && address > *start)
			*end = address;
		else if (!strcmp(symbol, name))
			*start = address;
	}
	if (symbols)
		fclose(symbols);
	return *end;
}

/* From now on only what the kernel's function @name calls fails. */
static bool only_in(const char *name)
{
	unsigned long long start, end;
	char text[32];

	if (access("/sys/kernel/debug/failslab/require-start", F_OK) || !find(name, &start, &end))
		return false;
	set_both("verbose", "0");
	set_both("ignore-gfp-wait", "N");
	set("fail_page_alloc", "ignore-gfp-highmem", "N");
	set("fail_page_alloc", "min-order", "0");
	snprintf(text, sizeof(text), "%#llx", start);
	set_both("require-start", text);
	set("fail_usercopy", "require-start", text);
	snprintf(text, sizeof(text), "%#llx", end);
	set_both("require-end", text);
	set("fail_usercopy", "require-end", text);
	return true;
}

/* All of it, until it is called off. */
static void fail_all(bool on)
{
	int me = open("/proc/self/make-it-fail", O_WRONLY);

	if (write(me, on ? "1" : "0", 1) != 1)
		abort();
	close(me);
	set("failslab", "task-filter", "Y");
	set("failslab", "times", "-1");
	set("failslab", "probability", on ? "100" : "0");
}

/* The @nth fails. */
static int attempt(int nth_fd, int module, int nth, bool *reached)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", nth), ret;

	if (pwrite(nth_fd, text, n, 0) != n)
		abort();
	ret = load(module) ? -errno : 0;
	*reached = pread(nth_fd, text, sizeof(text), 0) > 0 && text[0] == '0';
	if (pwrite(nth_fd, "0", 1, 0) != 1)
		abort();
	return ret;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static bool has_slab(void)
{
	FILE *slabs = fopen("/proc/slabinfo", "r");
	char line[512];
	bool found = false;

	while (slabs && fgets(line, sizeof(line), slabs))
		found |= !strncmp(line, "reventfd", 8);
	if (slabs)
		fclose(slabs);
	return found;
}

static bool works(void)
{
	int fd = counter(OPENED, EFD_NONBLOCK);
	bool good = put(fd, 5) == 8 && get(fd) == 5 && get(fd) == -EAGAIN;

	close(fd);
	return good;
}

TEST(nothing_stays_of_a_start_that_fails)
{
	int nth_fd = open("/proc/self/fail-nth", O_RDWR), module = open_module();
	int nth, ret, failed = 0, times;
	bool reached = true;

	/* The kernel's own work with a module is not our affair, but for its start. */
	if (geteuid() || module < 0 || nth_fd < 0 || !only_in("do_one_initcall"))
		SKIP(return, "this kernel injects no faults");
	if (exists("/sys/kernel/debug/kmemleak"))
		SKIP(return, "this kernel leaks the name of a slab cache it cannot make");
	ASSERT_EQ(0, unload());
	silence_console();
	for (nth = 1; reached && nth < NTH_MAX; nth++) {
		ret = attempt(nth_fd, module, nth, &reached);
		if (!ret) {
			EXPECT_TRUE(works());
			EXPECT_EQ(0, unload());
			continue;
		}
		failed++;
		EXPECT_TRUE(reached);
		EXPECT_EQ(-ENOMEM, ret);
		EXPECT_FALSE(exists("/dev/reventfd"));
		EXPECT_FALSE(exists("/sys/module/reventfd"));
		EXPECT_FALSE(exists("/sys/class/misc/reventfd"));
		EXPECT_FALSE(has_slab());
	}
	EXPECT_EQ(0, unsilence_console("reventfd", &times));
	EXPECT_LT(nth, NTH_MAX);
	EXPECT_GT(failed, 2);
	printf("# %d points, of which %d failed the start\n", nth - 2, failed);
	ASSERT_EQ(0, load(module));
	EXPECT_TRUE(works());
}

TEST(a_counter_without_a_number)
{
	int kept[COUNTERS], failed = 0;

	if (geteuid() || !only_in("ida_alloc_range"))
		SKIP(return, "this kernel injects no faults");
	fail_all(true);
	for (int i = 0; i < COUNTERS; i++) {
		kept[i] = counter(OPENED, EFD_NONBLOCK);
		if (kept[i] >= 0)
			continue;
		EXPECT_EQ(ENOMEM, errno);
		failed++;
	}
	fail_all(false);
	EXPECT_GT(failed, 0);
	EXPECT_LT(failed, COUNTERS);
	for (int i = 0; i < COUNTERS; i++) {
		if (kept[i] < 0)
			kept[i] = counter(OPENED, EFD_NONBLOCK);
		EXPECT_EQ(8, put(kept[i], i + 1));
	}
	for (int i = 0; i < COUNTERS; i++) {
		EXPECT_EQ(i + 1, get(kept[i]));
		close(kept[i]);
	}
}

TEST(a_second_load_changes_nothing)
{
	int fd = counter(OPENED, EFD_NONBLOCK), module = open_module();

	if (geteuid() || module < 0)
		SKIP(return, "loading a module needs root, and the module");
	ASSERT_EQ(8, put(fd, 3));
	EXPECT_EQ(-1, load(module));
	EXPECT_EQ(EEXIST, errno);
	EXPECT_EQ(3, get(fd));
	EXPECT_TRUE(works());
	close(fd);
}

TEST_HARNESS_MAIN
