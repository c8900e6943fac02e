// SPDX-License-Identifier: GPL-2.0
/*
 * The words between reventfd-run and its library. Both read them here: the
 * one to check them, the other to obey. Nothing is allocated.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/reventfd.h>

#include "options.h"

const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool parse_number(const char *text, unsigned long long most, uint32_t *number)
{
	unsigned long long n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	n = strtoull(text, &end, 10);
	if (*end || !n || n > most)
		return false;
	*number = n;
	return true;
}

static bool parse_rule(const char *text, struct rules *rules)
{
	static const char by_caller[] = "caller=";
	struct rule *r = &rules->rule[rules->n];

	if (rules->n == RULES_MAX)
		return false;
	*r = (struct rule) { 0 };
	if (!strncmp(text, by_caller, sizeof(by_caller) - 1)) {
		r->caller = text + sizeof(by_caller) - 1;
		if (!*r->caller)
			return false;
	} else if (!parse_number(text, INT_MAX, &r->number)) {
		return false;
	}
	rules->n++;
	return true;
}

/* The value, if @word is "@key=value". */
static const char *value_of(const char *word, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(word, key, n) && word[n] == '=' ? word + n + 1 : NULL;
}

static bool parse_flag(struct options *o, const char *word)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "verbose", &o->verbose },
		{ "dry-run", &o->dry_run },
		{ "strict", &o->strict },
		{ "no-inherit", &o->no_inherit },
		{ "warned", &o->warned },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!strcmp(word, flags[i].name)) {
			*flags[i].flag = true;
			return true;
		}
	}
	return false;
}

bool options_word(struct options *o, const char *word)
{
	const char *value;

	value = value_of(word, "rate");
	if (value)
		return parse_number(value, REVENTFD_RATE_MAX, &o->rate);
	value = value_of(word, "burst");
	if (value)
		return parse_number(value, UINT32_MAX, &o->burst);
	value = value_of(word, "only");
	if (value)
		return parse_rule(value, &o->only);
	value = value_of(word, "exclude");
	if (value)
		return parse_rule(value, &o->exclude);
	return parse_flag(o, word);
}

const char *options_parse(struct options *o, char *list)
{
	const char *wrong = NULL;
	char *end;

	for (; list; list = end) {
		end = strchr(list, ',');
		if (end)
			*end++ = 0;
		if (*list && !options_word(o, list) && !wrong)
			wrong = list;
	}
	return wrong;
}

const char *device_hint(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		if (access("/sys/module/reventfd", F_OK))
			return "Is the module loaded? Try 'modprobe reventfd'.";
		return "The module is loaded: this container, chroot or service lacks the device.";
	case EACCES:
		return "Who may open " DEVICE " is said by its mode.";
	case EPERM:
		return "Not its mode forbids it, but a container's or a service's devices:\n"
		       "  it must be given this one.";
	}
	return "";
}

/* "libzmq", "libzmq.so" and "libzmq.so.5" all mean the file libzmq.so.5. */
static bool names(const char *name, const char *path)
{
	size_t n = strlen(name);

	if (!strchr(name, '/'))
		path = file_name(path);
	return !strncmp(path, name, n) && (!path[n] || path[n] == '.');
}

static bool match(const struct rules *rules, unsigned int number, const char *caller)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[i];

		if (r->number ? r->number == number : names(r->caller, caller))
			return true;
	}
	return false;
}

bool options_select(const struct options *o, unsigned int number, const char *caller)
{
	if (o->only.n && !match(&o->only, number, caller))
		return false;
	return !match(&o->exclude, number, caller);
}
