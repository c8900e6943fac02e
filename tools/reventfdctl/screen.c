// SPDX-License-Identifier: GPL-2.0
/* top's screen: what is shown, and the keys. */
#include <curses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reventfdctl.h"

#define HEADER	3	/* lines above the table: two of ours and the heads */

static const char keys[] =
	"q quit  w writes  r reads  k wakeups  d deferred  c count  i id  p pid  arrows scroll";

struct view {
	struct rates rates;
	double delay;
	char sort;
	size_t first;		/* row that is shown first */
};

static const char *emptiness(const struct view *v)
{
	if (access("/dev/reventfd", F_OK))
		return "No reventfd: the module is not loaded (try 'modprobe reventfd').";
	if (v->rates.n_unreadable)
		return "No reventfd in the processes that you may look into.";
	return "No reventfd is open.";
}

static void draw_header(const struct view *v)
{
	size_t limited = 0;

	for (size_t i = 0; i < v->rates.n; i++)
		limited += v->rates.all[i].counter.first.state.rate != 0;
	mvprintw(0, 0, "reventfdctl top: %zu counters, %zu with a limit, over %.1f s, by %s",
		 v->rates.n, limited, v->rates.seconds, sort_name(v->sort));
	if (v->rates.n_unreadable)
		printw(" (%zu processes cannot be looked into)", v->rates.n_unreadable);
	mvprintw(1, 0, "%s", keys);
}

static void draw_line(int y, const char *line)
{
	mvaddnstr(y, 0, line, COLS);
	clrtoeol();
}

static void draw_table(struct view *v)
{
	size_t room = LINES > HEADER ? LINES - HEADER : 0, rows;
	struct table table;
	int *widths;
	char *line;

	rates_table(&v->rates, &table);
	rows = table_rows(&table);
	if (v->first + room > rows)
		v->first = rows > room ? rows - room : 0;
	widths = calloc(table.n_columns, sizeof(*widths));
	if (!widths)
		return;
	table_widths(&table, widths);
	for (size_t i = 0; i <= room && (!i || v->first + i <= rows); i++) {
		line = table_line(&table, widths, i ? v->first + i : 0);
		if (!i)
			attron(A_REVERSE);
		draw_line(HEADER - 1 + i, line);
		attroff(A_REVERSE);
		free(line);
	}
	free(widths);
	table_free(&table);
}

static void draw(struct view *v)
{
	erase();
	draw_header(v);
	if (v->rates.n)
		draw_table(v);
	else
		draw_line(HEADER - 1, emptiness(v));
	refresh();
}

static void scroll_by(struct view *v, int lines)
{
	/* draw_table() cuts off what is too much. */
	if (lines < 0 && v->first < (size_t)-lines)
		v->first = 0;
	else
		v->first += lines;
}

enum what_next { AGAIN, LOOK, QUIT };

static enum what_next handle(struct view *v, int key)
{
	int page = LINES > HEADER ? LINES - HEADER : 1;

	switch (key) {
	case 'q':
		return QUIT;
	case ' ':
		return LOOK;
	case KEY_UP:
		scroll_by(v, -1);
		return AGAIN;
	case KEY_DOWN:
		scroll_by(v, 1);
		return AGAIN;
	case KEY_PPAGE:
		scroll_by(v, -page);
		return AGAIN;
	case KEY_NPAGE:
		scroll_by(v, page);
		return AGAIN;
	default:
		/* A resized window comes in as a key, too. */
		if (key > 0 && key < 128 && rates_sort(&v->rates, key)) {
			v->sort = key;
			v->first = 0;
		}
		return AGAIN;
	}
}

/* A key, or ERR when the next look is @due: keys that come do not put it off. */
static int get_key(double due)
{
	double left = due - now();

	/* Rounded up, lest the last millisecond be spent going round. */
	timeout(left > 0 ? left * 1000 + 1 : 0);
	return getch();
}

/* With SIGHUP ignored, as under nohup(1), nothing else tells. */
static bool terminal_is_gone(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) == 1 && input.revents & (POLLHUP | POLLERR | POLLNVAL);
}

static int loop(struct view *v)
{
	struct sampler *sampler = sampler_new();
	enum what_next next = AGAIN;
	double due;
	int key;

	due = now() + v->delay;
	draw(v);
	while (next != QUIT) {
		key = get_key(due);
		if (key == ERR && terminal_is_gone())
			return FAILED;
		next = key == ERR ? AGAIN : handle(v, key);
		if (next == LOOK || now() >= due) {
			rates_free(&v->rates);
			sampler_next(sampler, &v->rates);
			rates_sort(&v->rates, v->sort);
			due = now() + v->delay;
		}
		draw(v);
	}
	return 0;
}

int screen_run(double delay, char sort)
{
	struct view v = { .delay = delay, .sort = sort };
	const char *terminal = getenv("TERM");
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		failed("top needs a terminal");
		hint("For a pipe or a script: reventfdctl top --batch");
		return FAILED;
	}
	if (!newterm(NULL, stdout, stdin)) {
		failed("the terminal '%s' is not known here", terminal ? terminal : "");
		hint("Try it with TERM=xterm, or use reventfdctl top --batch");
		return FAILED;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	status = loop(&v);
	endwin();
	return status ? failed("the terminal is gone") : 0;
}
