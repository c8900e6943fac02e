// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a wakeup is due. The clock is a number that the test moves, so years
 * pass in no time; only the last tests use the timer, with debts that are due
 * in an hour and settled by hand.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/overflow.h>
#include <linux/prandom.h>

#include "../wakeup_limiter.c"

#define YEAR_NS		(365ULL * 24 * 3600 * NSEC_PER_SEC)
#define STEPS		1000000

/*
 * The bound for every window at once. With grants at t[0], t[1], ... the
 * window from t[i] to t[j] holds j - i + 1 of them, which must not exceed
 * c + r * (t[j] - t[i]). The worst window that ends at t[j] is kept as its
 * excess over r * d, in units of 1/NSEC_PER_SEC of a token: it grows by a
 * token for a grant and shrinks by r for each ns, and restarts at one token.
 */
struct bound {
	u32 rate;
	u32 burst;
	u64 last;
	u64 excess;
};

static bool keeps_bound(struct bound *b, u64 now)
{
	u64 earned;

	if (check_mul_overflow((u64)b->rate, now - b->last, &earned))
		earned = U64_MAX;
	b->excess -= min(b->excess, earned);
	b->excess += NSEC_PER_SEC;
	b->last = now;
	return b->excess <= (u64)b->burst * NSEC_PER_SEC;
}

/* Steps of every kind: none at all, far below, around, far above 1/rate. */
static u64 random_step(struct rnd_state *rnd, u64 interval)
{
	switch (prandom_u32_state(rnd) % 8) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
	case 3:
		return prandom_u32_state(rnd) % (u32)(interval / 8 + 2);
	case 4:
		return interval;
	case 5:
		return interval - 1 + prandom_u32_state(rnd) % 3;
	case 6:
		return prandom_u32_state(rnd) % (u32)(2 * interval + 1);
	default:
		return prandom_u32_state(rnd) % 64 ? 0 : 100 * interval;
	}
}

static void simulate(struct kunit *test, u32 rate, u32 burst, u64 now)
{
	struct bound bound = { .rate = rate, .burst = burst, .last = now };
	struct reventfd_bucket b;
	struct rnd_state rnd;
	u64 granted = 0, due;

	prandom_seed_state(&rnd, rate ^ burst);
	reventfd_bucket_set(&b, rate, burst);
	for (int i = 0; i < STEPS; i++) {
		now += random_step(&rnd, b.interval);
		due = reventfd_bucket_take(&b, now);
		if (due && prandom_u32_state(&rnd) % 4 == 0) {
			/* As the timer does. */
			KUNIT_ASSERT_GT(test, due, now);
			KUNIT_ASSERT_LE(test, due - now, b.interval);
			now = due;
			due = reventfd_bucket_take(&b, now);
			KUNIT_ASSERT_EQ(test, due, 0);
		}
		if (due)
			continue;
		granted++;
		if (!keeps_bound(&bound, now))
			KUNIT_FAIL_AND_ABORT(test, "rate %u burst %u: grant %llu is one too many",
					     rate, burst, granted);
	}
	/* It does not keep the bound by granting nothing. */
	KUNIT_EXPECT_GT(test, granted, STEPS / 8);
}

static const u32 rates[] = { 1, 3, 7, 1000, 999999937, 1000000000 };

static void any_window_keeps_the_bound(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(rates); i++)
		simulate(test, rates[i], 1 + i * i, i * YEAR_NS);
}

static void a_full_bucket_holds_the_burst(struct kunit *test)
{
	const u32 bursts[] = { 1, 2, 1000 };
	struct reventfd_bucket b;
	u64 now = YEAR_NS;

	for (int i = 0; i < ARRAY_SIZE(rates) * ARRAY_SIZE(bursts); i++) {
		u32 rate = rates[i % ARRAY_SIZE(rates)], burst = bursts[i / ARRAY_SIZE(rates)];

		reventfd_bucket_set(&b, rate, burst);
		for (int fill = 0; fill < 2; fill++) {
			for (u32 n = 0; n < burst; n++)
				KUNIT_ASSERT_EQ(test, reventfd_bucket_take(&b, now), 0);
			KUNIT_ASSERT_EQ(test, reventfd_bucket_take(&b, now), now + b.interval);
			/* Idle for longer than it takes to fill. */
			now += 10ULL * burst * b.interval;
		}
	}
}

static void a_clock_that_stands_still_gives_no_token(struct kunit *test)
{
	struct reventfd_bucket b;

	reventfd_bucket_set(&b, 1000, 3);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, 5), 0);
	for (int i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, reventfd_bucket_take(&b, 5), 5 + b.interval);
	/* Nor does asking often delay the token that comes. */
	KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, 5 + b.interval), 0);
}

static void clocks_of_other_cpus_may_lag(struct kunit *test)
{
	struct reventfd_bucket b;

	reventfd_bucket_set(&b, 1000, 1);
	KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, 1000000), 0);
	KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, 999000), 2000000);
	KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, 1999999), 2000000);
	KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, 2000000), 0);
}

static void five_hundred_years(struct kunit *test)
{
	const u32 bursts[] = { 1, 2, U32_MAX };
	u64 now = 500 * YEAR_NS;
	struct reventfd_bucket b;

	for (int i = 0; i < ARRAY_SIZE(rates) * ARRAY_SIZE(bursts); i++) {
		u32 rate = rates[i % ARRAY_SIZE(rates)], burst = bursts[i / ARRAY_SIZE(rates)];

		reventfd_bucket_set(&b, rate, burst);
		KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, 0), 0);
		/* In one stretch, without an event. */
		KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, now), 0);
		/* As far ahead of the clock as a bucket can run. */
		atomic64_set(&b.paid_until, now + b.tolerance);
		KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, now), 0);
		KUNIT_EXPECT_GT(test, (u64)atomic64_read(&b.paid_until), now);
		KUNIT_EXPECT_EQ(test, reventfd_bucket_take(&b, now), now + b.interval);
	}
	simulate(test, 1, U32_MAX, now);
}

static void the_interval_is_rounded_up(struct kunit *test)
{
	struct reventfd_bucket b;

	reventfd_bucket_set(&b, 3, 1);
	KUNIT_EXPECT_EQ(test, b.interval, 333333334);
	reventfd_bucket_set(&b, 999999937, 1);
	KUNIT_EXPECT_EQ(test, b.interval, 2);
	reventfd_bucket_set(&b, 1000000000, 1);
	KUNIT_EXPECT_EQ(test, b.interval, 1);
	reventfd_bucket_set(&b, 1, 1);
	KUNIT_EXPECT_EQ(test, b.interval, NSEC_PER_SEC);
}

/* A counter at rate 1 and burst 1 whose next token exists in an hour. */
static struct reventfd_ctx *indebted(struct kunit *test)
{
	struct reventfd_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	KUNIT_ASSERT_EQ(test, reventfd_counter_init(&ctx->counter, 0, false), 0);
	reventfd_queue_init(&ctx->queue);
	reventfd_limiter_init(ctx);
	reventfd_limiter_set(ctx, &(struct reventfd_limit) { .rate = 1, .burst = 1 });
	atomic64_set(&ctx->limiter.bucket.paid_until, ktime_get_ns() + 3600ULL * NSEC_PER_SEC);
	test->priv = ctx;
	return ctx;
}

static void stop_timer(struct kunit *test)
{
	struct reventfd_ctx *ctx = test->priv;

	if (!ctx)
		return;
	reventfd_limiter_stop(ctx);
	reventfd_counter_destroy(&ctx->counter);
}

static void add(struct reventfd_ctx *ctx)
{
	reventfd_counter_add(&ctx->counter, 1);
	reventfd_announce(ctx, 1);
}

static bool readable(struct reventfd_ctx *ctx)
{
	return reventfd_readable(ctx, reventfd_counter_read(&ctx->counter));
}

static void a_debt_arms_one_timer(struct kunit *test)
{
	struct reventfd_ctx *ctx = indebted(test);

	for (int i = 0; i < 100; i++)
		add(ctx);
	KUNIT_EXPECT_EQ(test, atomic_read(&ctx->limiter.owed), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.deferred), 1);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&ctx->limiter.timer));
	KUNIT_EXPECT_FALSE(test, readable(ctx));

	/* The timer, with the token there. */
	atomic64_set(&ctx->limiter.bucket.paid_until, 0);
	settle_debt(ctx);
	KUNIT_EXPECT_EQ(test, atomic_read(&ctx->limiter.owed), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 1);
	KUNIT_EXPECT_TRUE(test, readable(ctx));
	KUNIT_EXPECT_EQ(test, reventfd_drain(ctx), 100);
	KUNIT_EXPECT_FALSE(test, readable(ctx));
}

static void a_debt_whose_token_was_taken_is_owed_again(struct kunit *test)
{
	struct reventfd_ctx *ctx = indebted(test);

	add(ctx);
	settle_debt(ctx);
	KUNIT_EXPECT_EQ(test, atomic_read(&ctx->limiter.owed), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.deferred), 2);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 0);
}

static void a_drain_leaves_nothing_to_wake_for(struct kunit *test)
{
	struct reventfd_ctx *ctx = indebted(test);

	add(ctx);
	KUNIT_EXPECT_EQ(test, reventfd_drain(ctx), 1);
	atomic64_set(&ctx->limiter.bucket.paid_until, 0);
	settle_debt(ctx);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 0);
	/* And the token it did not spend is there for the next event. */
	add(ctx);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 1);
	KUNIT_EXPECT_TRUE(test, readable(ctx));
}

static void a_change_settles_and_stops_the_timer(struct kunit *test)
{
	struct reventfd_ctx *ctx = indebted(test);
	struct reventfd_limit limit;

	add(ctx);
	reventfd_limiter_set(ctx, &(struct reventfd_limit) { .rate = 5, .burst = 2 });
	KUNIT_EXPECT_EQ(test, atomic_read(&ctx->limiter.owed), 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&ctx->limiter.timer));
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 1);
	KUNIT_EXPECT_TRUE(test, readable(ctx));

	reventfd_limiter_get(ctx, &limit);
	KUNIT_EXPECT_EQ(test, limit.rate, 5);
	KUNIT_EXPECT_EQ(test, limit.burst, 2);
}

/* A poller that notes how the queue's lock is held when it is woken. */
struct lock_watcher {
	struct reventfd_ctx *ctx;
	wait_queue_entry_t entry;
	int exclusive;
};

static int watch_lock(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	struct lock_watcher *w = container_of(entry, struct lock_watcher, entry);

	w->exclusive = lockdep_is_held_type(&w->ctx->queue.lock, 0);
	return 0;
}

/* Else who sets it could be kept from waking once the old debt is forgotten. */
static void a_change_wakes_before_it_lets_go(struct kunit *test)
{
	struct reventfd_ctx *ctx = indebted(test);
	struct lock_watcher w = { .ctx = ctx, .exclusive = -1 };

	if (!IS_ENABLED(CONFIG_LOCKDEP) || IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "this takes lockdep, and a lock that is held in two ways");
	init_waitqueue_func_entry(&w.entry, watch_lock);
	add_wait_queue(&ctx->queue.pollers, &w.entry);
	add(ctx);
	KUNIT_EXPECT_EQ(test, w.exclusive, -1);
	reventfd_limiter_set(ctx, &(struct reventfd_limit) { .rate = 5, .burst = 2 });
	KUNIT_EXPECT_EQ(test, w.exclusive, 1);
	remove_wait_queue(&ctx->queue.pollers, &w.entry);
}

static void a_stale_timer_finds_nothing_owed(struct kunit *test)
{
	struct reventfd_ctx *ctx = indebted(test);

	add(ctx);
	reventfd_limiter_set(ctx, &(struct reventfd_limit) { .rate = 0 });
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 1);
	KUNIT_EXPECT_EQ(test, debt_due(&ctx->limiter.timer), HRTIMER_NORESTART);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 1);
}

struct waker {
	struct reventfd_ctx *ctx;
	struct completion done;
};

static int announce(void *arg)
{
	struct waker *w = arg;

	reventfd_announce_now(w->ctx, 1);
	kthread_complete_and_exit(&w->done, 0);
}

/*
 * A limit comes when a waker has seen that there is none, and waits for the
 * pollers' lock. It must not wake without a token.
 */
static void a_limit_that_comes_meanwhile_holds(struct kunit *test)
{
	struct reventfd_ctx *ctx = indebted(test);
	s64 setting = atomic64_read(&ctx->limiter.setting);
	struct waker w = { .ctx = ctx };
	struct task_struct *thread;

	if (num_online_cpus() < 2 || IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "this takes two CPUs, and locks that spin");
	init_completion(&w.done);
	thread = kthread_create(announce, &w, "waker");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	kthread_bind(thread, cpumask_last(cpu_online_mask));

	reventfd_counter_add(&ctx->counter, 1);
	atomic64_set(&ctx->limiter.setting, 0);
	spin_lock(&ctx->queue.pollers.lock);
	wake_up_process(thread);
	while (!spin_is_contended(&ctx->queue.pollers.lock))
		cpu_relax();
	atomic64_set(&ctx->limiter.setting, setting);
	spin_unlock(&ctx->queue.pollers.lock);
	wait_for_completion(&w.done);

	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.wakeups), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->limiter.deferred), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&ctx->limiter.owed), 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(any_window_keeps_the_bound),
	KUNIT_CASE(a_full_bucket_holds_the_burst),
	KUNIT_CASE(a_clock_that_stands_still_gives_no_token),
	KUNIT_CASE(clocks_of_other_cpus_may_lag),
	KUNIT_CASE(five_hundred_years),
	KUNIT_CASE(the_interval_is_rounded_up),
	KUNIT_CASE(a_debt_arms_one_timer),
	KUNIT_CASE(a_debt_whose_token_was_taken_is_owed_again),
	KUNIT_CASE(a_drain_leaves_nothing_to_wake_for),
	KUNIT_CASE(a_change_settles_and_stops_the_timer),
	KUNIT_CASE(a_change_wakes_before_it_lets_go),
	KUNIT_CASE(a_stale_timer_finds_nothing_owed),
	KUNIT_CASE(a_limit_that_comes_meanwhile_holds),
	{}
};

static struct kunit_suite suite = {
	.name = "reventfd_limiter",
	.exit = stop_timer,
	.test_cases = cases,
};

kunit_test_suite(suite);
