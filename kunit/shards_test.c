// SPDX-License-Identifier: GPL-2.0-only
/*
 * A count in parts: what is in which shard, and that nothing is lost between
 * them. The shards here are four, however many CPUs there are.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "../event_shards.c"

#define SHARDS	4

static struct reventfd_shards *begin(struct kunit *test, u64 count)
{
	struct reventfd_shards *s = reventfd_shards_new(count);

	KUNIT_ASSERT_NOT_NULL(test, s);
	return s;
}

static u64 in_shard(struct reventfd_shards *s, int i)
{
	return atomic64_read(&s->shard[i].count);
}

static void put_in(struct reventfd_shards *s, int i, u64 n)
{
	atomic64_set(&s->shard[i].count, n);
}

static void shares_add_up_to_the_maximum(struct kunit *test)
{
	struct reventfd_shards *s = begin(test, 0);
	u64 sum = 0;

	for (int i = 0; i < SHARDS; i++)
		sum += s->shard[i].share;
	KUNIT_EXPECT_EQ(test, sum, REVENTFD_COUNT_MAX);
	reventfd_shards_free(s);
}

static void what_a_shard_does_not_hold_goes_to_the_others(struct kunit *test)
{
	struct reventfd_shards *s = begin(test, REVENTFD_COUNT_MAX - 10);

	for (int i = 0; i < SHARDS; i++)
		KUNIT_EXPECT_LE(test, in_shard(s, i), s->shard[i].share);
	KUNIT_EXPECT_TRUE(test, reventfd_shards_add(s, 4));
	KUNIT_EXPECT_FALSE(test, reventfd_shards_add(s, 7));
	KUNIT_EXPECT_TRUE(test, reventfd_shards_add(s, 6));
	KUNIT_EXPECT_FALSE(test, reventfd_shards_add(s, 1));
	for (int i = 0; i < SHARDS; i++)
		KUNIT_EXPECT_EQ(test, in_shard(s, i), s->shard[i].share);
	KUNIT_EXPECT_EQ(test, reventfd_shards_take_all(s), REVENTFD_COUNT_MAX);
	KUNIT_EXPECT_EQ(test, reventfd_shards_glance(s), 0);
	reventfd_shards_free(s);
}

/* As it is when the CPU that wrote them has gone offline. */
static void one_is_found_in_any_shard(struct kunit *test)
{
	for (int i = 0; i < SHARDS; i++) {
		struct reventfd_shards *s = begin(test, 0);

		put_in(s, i, 2);
		KUNIT_EXPECT_EQ(test, reventfd_shards_read(s), 2);
		KUNIT_EXPECT_EQ(test, reventfd_shards_take_one(s), 1);
		KUNIT_EXPECT_EQ(test, reventfd_shards_take_one(s), 1);
		KUNIT_EXPECT_EQ(test, reventfd_shards_take_one(s), 0);
		reventfd_shards_free(s);
	}
}

/* The overflow's one event is counted with room for it, and leaves last. */
static void the_overflow_is_one_more(struct kunit *test)
{
	struct reventfd_shards *s = begin(test, REVENTFD_COUNT_MAX);

	KUNIT_EXPECT_EQ(test, reventfd_shards_add_saturating(s, 3), 1);
	KUNIT_EXPECT_EQ(test, reventfd_shards_read(s), ULLONG_MAX);
	for (int i = 0; i < SHARDS; i++)
		put_in(s, i, s->shard[i].share - 1);
	KUNIT_EXPECT_EQ(test, reventfd_shards_read(s), REVENTFD_COUNT_MAX - SHARDS + 1);
	KUNIT_EXPECT_FALSE(test, reventfd_shards_add(s, SHARDS));
	KUNIT_EXPECT_TRUE(test, reventfd_shards_add(s, SHARDS - 1));
	KUNIT_EXPECT_FALSE(test, reventfd_shards_add(s, 1));
	for (int i = 0; i < SHARDS; i++)
		put_in(s, i, 0);
	KUNIT_EXPECT_EQ(test, reventfd_shards_take_one(s), 1);
	KUNIT_EXPECT_EQ(test, reventfd_shards_take_one(s), 0);
	reventfd_shards_free(s);
}

#define ROUNDS	20000

struct side {
	struct reventfd_shards *s;
	u64 sum;
	bool single;
	struct completion done;
};

/* To the first CPU and to the last in turns, as producers go. */
static void move(int turn)
{
	int cpu = turn % 2 ? cpumask_last(cpu_online_mask) : cpumask_first(cpu_online_mask);

	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int produce(void *arg)
{
	struct side *p = arg;

	for (int i = 0; i < ROUNDS; i++) {
		if (reventfd_shards_add(p->s, i % 3))
			p->sum += i % 3;
		if (i % 512 == 0)
			move(i / 512);
	}
	kthread_complete_and_exit(&p->done, 0);
}

static int consume(void *arg)
{
	struct side *c = arg;

	for (int i = 0; i < ROUNDS; i++) {
		c->sum += c->single ? reventfd_shards_take_one(c->s) :
				      reventfd_shards_take_all(c->s);
		cond_resched();
	}
	kthread_complete_and_exit(&c->done, 0);
}

static void run(struct kunit *test, struct side *side, int (*what)(void *),
		struct reventfd_shards *s)
{
	side->s = s;
	init_completion(&side->done);
	if (IS_ERR(kthread_run(what, side, "side"))) {
		KUNIT_FAIL(test, "no thread for a side");
		complete(&side->done);
	}
}

static void nothing_is_lost_or_doubled(struct kunit *test)
{
	struct reventfd_shards *s = begin(test, 7);
	struct side producer[3] = { 0 }, consumer[2] = { 0 };
	u64 in = 7, out = 0;

	consumer[1].single = true;
	for (int i = 0; i < ARRAY_SIZE(producer); i++)
		run(test, &producer[i], produce, s);
	for (int i = 0; i < ARRAY_SIZE(consumer); i++)
		run(test, &consumer[i], consume, s);
	for (int i = 0; i < ARRAY_SIZE(producer); i++) {
		wait_for_completion(&producer[i].done);
		in += producer[i].sum;
	}
	for (int i = 0; i < ARRAY_SIZE(consumer); i++) {
		wait_for_completion(&consumer[i].done);
		out += consumer[i].sum;
	}
	KUNIT_EXPECT_EQ(test, in, out + reventfd_shards_take_all(s));
	reventfd_shards_free(s);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(shares_add_up_to_the_maximum),
	KUNIT_CASE(what_a_shard_does_not_hold_goes_to_the_others),
	KUNIT_CASE(one_is_found_in_any_shard),
	KUNIT_CASE(the_overflow_is_one_more),
	KUNIT_CASE(nothing_is_lost_or_doubled),
	{}
};

static int start(struct kunit_suite *suite)
{
	return make_cache("reventfd_shards_test", SHARDS);
}

static void stop(struct kunit_suite *suite)
{
	reventfd_shards_exit();
}

static struct kunit_suite suite = {
	.name = "reventfd_shards",
	.suite_init = start,
	.suite_exit = stop,
	.test_cases = cases,
};

kunit_test_suite(suite);
