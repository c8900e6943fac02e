// SPDX-License-Identifier: GPL-2.0-only
/* How events add up, whether in one atomic or in shards: the same must be seen. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>

#include "../event_counter.c"

static void begin(struct kunit *test, struct reventfd_counter *c, u64 count, bool sharded)
{
	KUNIT_ASSERT_EQ(test, reventfd_counter_init(c, count, sharded), 0);
	KUNIT_EXPECT_EQ(test, !!c->shards, sharded);
}

static void end(struct kunit *test, struct reventfd_counter *c, u64 writes, u64 reads)
{
	u64 stat[2];

	reventfd_counter_stats(c, &stat[0], &stat[1]);
	KUNIT_EXPECT_EQ(test, stat[0], writes);
	KUNIT_EXPECT_EQ(test, stat[1], reads);
	reventfd_counter_destroy(c);
}

static void adds_up_to_the_maximum(struct kunit *test)
{
	struct reventfd_counter c;

	for (int sharded = 0; sharded <= 1; sharded++) {
		begin(test, &c, 0, sharded);
		KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, 0));
		KUNIT_EXPECT_EQ(test, reventfd_counter_read(&c), 0);
		KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, REVENTFD_COUNT_MAX));
		KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, 0));
		KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, 1));
		KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, REVENTFD_COUNT_MAX));
		KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, ULLONG_MAX));
		KUNIT_EXPECT_EQ(test, reventfd_counter_read(&c), REVENTFD_COUNT_MAX);
		KUNIT_EXPECT_EQ(test, reventfd_counter_glance(&c), REVENTFD_COUNT_MAX);
		end(test, &c, 3, 0);
	}
}

static void a_signal_saturates_and_then_nothing_fits(struct kunit *test)
{
	struct reventfd_counter c;

	for (int sharded = 0; sharded <= 1; sharded++) {
		begin(test, &c, REVENTFD_COUNT_MAX - 2, sharded);
		KUNIT_EXPECT_EQ(test, reventfd_counter_add_saturating(&c, 1), 1);
		KUNIT_EXPECT_EQ(test, reventfd_counter_add_saturating(&c, 5), 2);
		KUNIT_EXPECT_EQ(test, reventfd_counter_read(&c), ULLONG_MAX);
		KUNIT_EXPECT_EQ(test, reventfd_counter_add_saturating(&c, 1), 0);
		KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, 0));
		KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, 1));
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_one(&c), 1);
		KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, 0));
		KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, 1));
		KUNIT_EXPECT_EQ(test, reventfd_counter_add_saturating(&c, ULLONG_MAX), 1);
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), ULLONG_MAX);
		KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, 1));
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), 1);
		end(test, &c, 6, 3);
	}
}

static void takes_all_or_one(struct kunit *test)
{
	struct reventfd_counter c;

	for (int sharded = 0; sharded <= 1; sharded++) {
		begin(test, &c, 5, sharded);
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_one(&c), 1);
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), 4);
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), 0);
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_one(&c), 0);
		end(test, &c, 0, 2);
	}
}

static void room_is_exact(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, reventfd_count_fits(0, REVENTFD_COUNT_MAX));
	KUNIT_EXPECT_FALSE(test, reventfd_count_fits(1, REVENTFD_COUNT_MAX));
	KUNIT_EXPECT_TRUE(test, reventfd_count_fits(REVENTFD_COUNT_MAX - 1, 1));
	KUNIT_EXPECT_FALSE(test, reventfd_count_fits(REVENTFD_COUNT_MAX, 1));
	KUNIT_EXPECT_TRUE(test, reventfd_count_fits(REVENTFD_COUNT_MAX, 0));
	KUNIT_EXPECT_FALSE(test, reventfd_count_fits(ULLONG_MAX, 0));
}

#define SIGNALS	100000

struct signaller {
	struct reventfd_counter *counter;
	atomic_t *started;
	u64 added;
	struct completion done;
};

static int signal_often(void *arg)
{
	struct signaller *s = arg;

	atomic_inc(s->started);
	while (atomic_read(s->started) < 2)
		cond_resched();
	for (int i = 0; i < SIGNALS; i++)
		s->added += reventfd_counter_add_saturating(s->counter, 1);
	kthread_complete_and_exit(&s->done, 0);
}

/* They meet in one atomic, or each in its own shard. */
static void signals_of_two_cpus_add_up(struct kunit *test)
{
	for (int sharded = 0; sharded <= 1; sharded++) {
		atomic_t started = ATOMIC_INIT(0);
		struct signaller s[2] = { 0 };
		struct reventfd_counter c;
		struct task_struct *thread[2];

		begin(test, &c, 0, sharded);
		for (int i = 0; i < 2; i++) {
			s[i].counter = &c;
			s[i].started = &started;
			init_completion(&s[i].done);
			thread[i] = kthread_create(signal_often, &s[i], "signaller/%d", i);
			KUNIT_ASSERT_FALSE(test, IS_ERR(thread[i]));
		}
		kthread_bind(thread[0], cpumask_first(cpu_online_mask));
		kthread_bind(thread[1], cpumask_last(cpu_online_mask));
		for (int i = 0; i < 2; i++)
			wake_up_process(thread[i]);
		for (int i = 0; i < 2; i++) {
			wait_for_completion(&s[i].done);
			KUNIT_EXPECT_EQ(test, s[i].added, SIGNALS);
		}
		KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), 2 * SIGNALS);
		end(test, &c, 2 * SIGNALS, 1);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(adds_up_to_the_maximum),
	KUNIT_CASE(a_signal_saturates_and_then_nothing_fits),
	KUNIT_CASE(takes_all_or_one),
	KUNIT_CASE(room_is_exact),
	KUNIT_CASE(signals_of_two_cpus_add_up),
	{}
};

static int start(struct kunit_suite *suite)
{
	return reventfd_shards_init("reventfd_counter_test");
}

static void stop(struct kunit_suite *suite)
{
	reventfd_shards_exit();
}

static struct kunit_suite suite = {
	.name = "reventfd_counter",
	.suite_init = start,
	.suite_exit = stop,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of reventfd");
MODULE_LICENSE("GPL");
