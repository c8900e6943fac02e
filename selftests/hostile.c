// SPDX-License-Identifier: GPL-2.0
/*
 * Everything a program can do wrong, at once. Processes of several threads
 * share a few descriptors and call whatever takes one, with arguments good and
 * bad, while the descriptors are replaced under them, the memory they point at
 * is unmapped, and signals interrupt them.
 *
 *	hostile [-s SEED] [-S SEEDS] [-n CALLS] [-p PROCESSES] [-t THREADS]
 *
 * CALLS are those of a thread; with REVENTFD_SLOW=1 in the environment there
 * are fewer, with REVENTFD_LONG=1 more. With -p 1 -t 1 a seed repeats what it
 * did exactly, but for when signals come.
 *
 * The kernel must not mind, which its log tells. Each errno must be one that is
 * documented for the call; what goes in and out of two counters that nobody
 * closes must add up; one that nobody touched must work; and each counter must
 * be gone afterwards.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "hostile.h"

#define THREADS_MAX	16
#define ASLEEP		600	/* seconds; nobody sleeps so long in a call */

struct ledger *ledger;
struct memory memory;

static long calls;
static int processes = 2, threads = 3;
static atomic_int working;
static bool slow;

static void on_signal(int sig)
{
	if (sig == SIGIO)
		atomic_fetch_add(&ledger->signals, 1);
}

static void on_alarm(int sig)
{
	static const char text[] = "Bail out! asleep: nobody comes back from a call\n";

	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void handle(int sig, int flags)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(sig, &a, NULL);
}

static void *map(void *where, size_t size, int protection)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0);
	void *at = mmap(where, size, protection, flags, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

static void lay_out_memory(void)
{
	memory.good = map(NULL, 2 * AREA, PROT_READ | PROT_WRITE);
	memory.no_access = memory.good + AREA;
	mprotect(memory.no_access, AREA, PROT_NONE);
	memory.read_only = map(NULL, AREA, PROT_READ);
	memory.racing = map(NULL, AREA, PROT_READ | PROT_WRITE);
}

/*
 * Who races and who interrupts leave the others alone for as long between two
 * rounds, however long a round takes: on a slow machine nobody else would run.
 */
static void leave_alone(int timer, long ms)
{
	struct itimerspec once = { .it_value.tv_nsec = ms * 1000000 * (slow ? 8 : 1) };

	if (timerfd_settime(timer, 0, &once, NULL))
		abort();
	get(timer);
}

/* Takes memory away from under the others, and gives it back. */
static void *race(void *arg)
{
	int all = PROT_READ | PROT_WRITE, timer = timerfd_create(CLOCK_MONOTONIC, 0);

	while (atomic_load(&working)) {
		leave_alone(timer, 1);
		mprotect(memory.racing, AREA, PROT_READ);
		mprotect(memory.racing, AREA, PROT_NONE);
		mprotect(memory.racing, AREA, all);
		madvise(memory.racing, AREA, MADV_DONTNEED);
		/* In one step, so that nothing else is mapped there meanwhile. */
		map(memory.racing, AREA, all);
	}
	close(timer);
	return NULL;
}

/*
 * Interrupts whoever is there, hence nobody sleeps for ever: by chance, since
 * a thread that met none but the signal which restarts calls would.
 */
static void *annoy(void *arg)
{
	pid_t self = syscall(SYS_gettid), tid;
	struct dirent *entry;
	struct dice d = { 0 };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	DIR *dir;

	while (atomic_load(&working)) {
		leave_alone(timer, 4);
		dir = opendir("/proc/self/task");
		while (dir && (entry = readdir(dir))) {
			tid = atoi(entry->d_name);
			if (tid > 0 && tid != self)
				syscall(SYS_tgkill, getpid(), tid,
					below(&d, 3) ? SIGUSR1 : SIGUSR2);
		}
		if (dir)
			closedir(dir);
	}
	close(timer);
	return NULL;
}

static void *work(void *arg)
{
	struct thread *t = arg;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, t->socket) || pipe(t->pipe))
		abort();
	t->epoll = epoll_create1(0);
	for (long i = 0; i < calls; i++) {
		hostile_call(t);
		alarm(ASLEEP);
	}
	close(t->socket[0]);
	close(t->socket[1]);
	close(t->epoll);
	close(t->pipe[0]);
	close(t->pipe[1]);
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static void process(uint64_t seed)
{
	pthread_t racer, nuisance, worker[THREADS_MAX];
	static struct thread thread[THREADS_MAX];

	lay_out_memory();
	handle(SIGUSR1, 0);
	handle(SIGUSR2, SA_RESTART);
	handle(SIGIO, 0);
	atomic_store(&working, threads);
	pthread_create(&racer, NULL, race, NULL);
	pthread_create(&nuisance, NULL, annoy, NULL);
	for (int i = 0; i < threads; i++) {
		thread[i].dice.state = seed * THREADS_MAX + i;
		pthread_create(&worker[i], NULL, work, &thread[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(worker[i], NULL);
	pthread_join(racer, NULL);
	pthread_join(nuisance, NULL);
}

static void move(int fd, int to, int flags)
{
	if (fd < 0 || dup3(fd, to, flags) != to) {
		printf("Bail out! no counter: %s\n", strerror(errno));
		exit(1);
	}
	close(fd);
}

static void open_counters(void)
{
	move(counter(OPENED, O_NONBLOCK), KEPT_FIRST, 0);
	move(counter(SHARDED, EFD_NONBLOCK), KEPT_FIRST + 1, 0);
	move(counter(SHARDED, EFD_NONBLOCK), ALONE, 0);
	put(ALONE, 5);
	for (int i = 0; i < SLOTS; i++)
		move(counter(OPENED + i % 3, 0), SLOT_FIRST + i, 0);
}

static int same(const char *what, unsigned long long should, unsigned long long is)
{
	if (should == is)
		return 0;
	printf("# %s: should be %llu, is %llu\n", what, should, is);
	return 1;
}

/* Returns how much is wrong with what the processes left behind. */
static int examine(void)
{
	int wrong = 0, reports = atomic_load(&ledger->failures);

	for (int i = 0; i < reports && i < REPORTS; i++)
		printf("# %s\n", ledger->report[i]);
	wrong += reports + same("SIGIO", 0, ledger->signals);

	for (int i = 0; i < KEPT; i++) {
		struct reventfd_stats s;
		int64_t left;

		limit(KEPT_FIRST + i, 0, 0, 0);
		left = get(KEPT_FIRST + i);
		s = stats(KEPT_FIRST + i);
		wrong += same("events", ledger->added[i], ledger->taken[i] + (left > 0 ? left : 0));
		wrong += same("writes", ledger->writes[i], s.writes);
		wrong += same("reads", ledger->reads[i] + (left > 0), s.reads);
	}

	wrong += same("the count of the one alone", 5, get(ALONE));
	limit(ALONE, 1, 1, 0);
	put(ALONE, 1);
	wrong += same("its first event", POLLIN | POLLOUT, polled(ALONE));
	wrong += same("what is read", 1, get(ALONE));
	wrong += same("when it is read", POLLOUT, polled(ALONE));
	return wrong;
}

static void close_counters(void)
{
	for (int i = KEPT_FIRST; i < SLOT_FIRST + SLOTS; i++)
		close(i);
}

/* Which id a new counter gets tells whether those before it are gone. */
static long long next_id(void)
{
	int fd = counter(OPENED, 0);
	long long id = info(fd, "eventfd-id");

	close(fd);
	return id;
}

static int battle(uint64_t seed)
{
	long long id = next_id();
	int wrong = 0, status;

	memset(ledger, 0, sizeof(*ledger));
	open_counters();
	for (int i = 0; i < processes; i++) {
		if (!fork()) {
			process(seed * 64 + i);
			_exit(0);
		}
	}
	for (int i = 0; i < processes; i++) {
		wait(&status);
		wrong += same("status of a process", 0, status);
	}
	wrong += examine();
	close_counters();
	wrong += same("id of a new counter", id, next_id());
	return wrong;
}

static void options(int argc, char **argv, uint64_t *seed, int *seeds)
{
	int c;

	while ((c = getopt(argc, argv, "s:S:n:p:t:")) != -1) {
		switch (c) {
		case 's':
			*seed = strtoull(optarg, NULL, 0);
			break;
		case 'S':
			*seeds = atoi(optarg);
			break;
		case 'n':
			calls = atol(optarg);
			break;
		case 'p':
			processes = atoi(optarg);
			break;
		case 't':
			threads = atoi(optarg);
			break;
		default:
			processes = 0;
		}
	}
	if (processes < 1 || processes > 64 || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr,
			"usage: hostile [-s SEED] [-S SEEDS] [-n CALLS] [-p PROCESSES] [-t THREADS]\n"
			"  SEEDS runs of PROCESSES (1 to 64) with THREADS (1 to %d) that make CALLS each\n",
			THREADS_MAX);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int seeds = 4, failed = 0, wrong;
	uint64_t seed = 1;

	slow = getenv("REVENTFD_SLOW");
	calls = slow ? 1000 : 3000;
	if (getenv("REVENTFD_LONG"))
		calls *= 20;
	options(argc, argv, &seed, &seeds);
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (ledger == MAP_FAILED)
		abort();
	signal(SIGALRM, on_alarm);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", seeds);
	for (int i = 0; i < seeds; i++) {
		wrong = battle(seed + i);
		failed += wrong != 0;
		printf("# %llu answers checked\n", (unsigned long long)ledger->calls);
		printf("%sok %d as documented whatever is called, seed %llu\n",
		       wrong ? "not " : "", i + 1, (unsigned long long)(seed + i));
	}
	return failed != 0;
}
