// SPDX-License-Identifier: GPL-2.0-only
/* How events add up. */
#include <kunit/test.h>

#include "../event_counter.c"

static void adds_up_to_the_maximum(struct kunit *test)
{
	struct reventfd_counter c;

	reventfd_counter_init(&c, 0);
	KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, 0));
	KUNIT_EXPECT_EQ(test, reventfd_counter_read(&c), 0);
	KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, REVENTFD_COUNT_MAX));
	KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, 0));
	KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, 1));
	KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, REVENTFD_COUNT_MAX));
	KUNIT_EXPECT_EQ(test, reventfd_counter_read(&c), REVENTFD_COUNT_MAX);
	KUNIT_EXPECT_EQ(test, atomic64_read(&c.writes), 3);
}

static void a_saturated_counter_takes_nothing_more(struct kunit *test)
{
	struct reventfd_counter c;

	reventfd_counter_init(&c, ULLONG_MAX);
	KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, 0));
	KUNIT_EXPECT_FALSE(test, reventfd_counter_add(&c, 1));
	KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), ULLONG_MAX);
	KUNIT_EXPECT_TRUE(test, reventfd_counter_add(&c, 1));
}

static void takes_all_or_one(struct kunit *test)
{
	struct reventfd_counter c;

	reventfd_counter_init(&c, 5);
	KUNIT_EXPECT_EQ(test, reventfd_counter_take_one(&c), 1);
	KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), 4);
	KUNIT_EXPECT_EQ(test, reventfd_counter_take_all(&c), 0);
	KUNIT_EXPECT_EQ(test, reventfd_counter_take_one(&c), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&c.reads), 2);
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

static struct kunit_case cases[] = {
	KUNIT_CASE(adds_up_to_the_maximum),
	KUNIT_CASE(a_saturated_counter_takes_nothing_more),
	KUNIT_CASE(takes_all_or_one),
	KUNIT_CASE(room_is_exact),
	{}
};

static struct kunit_suite suite = {
	.name = "reventfd_counter",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of reventfd");
MODULE_LICENSE("GPL");
