// SPDX-License-Identifier: GPL-2.0
/* The same as JSON: an object a line. Numbers are exact, up to 2^64 - 1. */
#include <json-c/json.h>

#include "reventfdctl.h"

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	if (!object || json_object_object_add(object, key, value))
		exit(failed("no memory"));
}

static void add_number(struct json_object *object, const char *key, unsigned long long n)
{
	add(object, key, json_object_new_uint64(n));
}

static void add_bool(struct json_object *object, const char *key, bool value)
{
	add(object, key, json_object_new_boolean(value));
}

/* To a tenth, as in the table. */
static void add_rate(struct json_object *object, const char *key, double rate)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1f", rate);
	add(object, key, json_object_new_double_s(rate, text));
}

static void add_process(struct json_object *object, const struct process *process)
{
	char text[TEXT_MAX];

	add_number(object, "pid", process->pid);
	add(object, "command",
	    json_object_new_string(utf8(process->command, text, sizeof(text))));
}

static void add_state(struct json_object *object, const struct state *s)
{
	add(object, "kind", json_object_new_string(s->ours ? "reventfd" : "eventfd"));
	add_number(object, "id", s->id);
	add_number(object, "count", s->count);
	add(object, "semaphore",
	    s->semaphore < 0 ? NULL : json_object_new_boolean(s->semaphore));
	if (!s->ours)
		return;
	add_number(object, "rate", s->rate);
	add_number(object, "burst", s->burst);
	add_bool(object, "wake_only", s->wake_only);
	add_bool(object, "ready", s->ready);
	add_bool(object, "owed", s->owed);
	add_number(object, "writes", s->writes);
	add_number(object, "reads", s->reads);
	add_number(object, "wakeups", s->wakeups);
	add_number(object, "deferred", s->deferred);
	add_number(object, "timer_fires", s->timer_fires);
	add_number(object, "shards", s->shards);
}

static struct json_object *descriptor_object(const struct descriptor *d)
{
	struct json_object *object = json_object_new_object();

	add_process(object, &d->process);
	add_number(object, "fd", d->fd);
	add_state(object, &d->state);
	return object;
}

static void print(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

void json_list(const struct scan *scan)
{
	struct json_object *top = json_object_new_object(), *item;
	struct json_object *descriptors = json_object_new_array();
	struct json_object *unreadable = json_object_new_array();

	for (size_t i = 0; i < scan->n; i++)
		json_object_array_add(descriptors, descriptor_object(&scan->all[i]));
	for (size_t i = 0; i < scan->n_unreadable; i++) {
		item = json_object_new_object();
		add_process(item, &scan->unreadable[i]);
		json_object_array_add(unreadable, item);
	}
	add(top, "descriptors", descriptors);
	add(top, "unreadable", unreadable);
	print(top);
}

void json_stat(const struct descriptor *descriptor)
{
	print(descriptor_object(descriptor));
}

static struct json_object *rate_object(const struct rate *r)
{
	struct json_object *object = descriptor_object(&r->counter.first);

	add_number(object, "descriptors", r->counter.descriptors);
	add_rate(object, "writes_per_second", r->writes);
	add_rate(object, "reads_per_second", r->reads);
	add_rate(object, "wakeups_per_second", r->wakeups);
	add_rate(object, "deferred_per_second", r->deferred);
	return object;
}

void json_rates(const struct rates *rates)
{
	struct json_object *top = json_object_new_object();
	struct json_object *counters = json_object_new_array();
	char text[32];

	snprintf(text, sizeof(text), "%.3f", rates->seconds);
	add(top, "seconds", json_object_new_double_s(rates->seconds, text));
	for (size_t i = 0; i < rates->n; i++)
		json_object_array_add(counters, rate_object(&rates->all[i]));
	add(top, "counters", counters);
	print(top);
}
