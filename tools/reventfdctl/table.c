// SPDX-License-Identifier: GPL-2.0
/* Columns as wide as what stands in them. The last is not padded. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reventfdctl.h"

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = formatted("?");
	va_end(args);
	table->cells = grown(table->cells, table->n_cells, sizeof(*table->cells));
	table->cells[table->n_cells++] = text;
}

size_t table_rows(const struct table *table)
{
	return table->n_cells / table->n_columns;
}

void table_widths(const struct table *table, int *widths)
{
	int length;

	for (size_t i = 0; i < table->n_columns; i++)
		widths[i] = strlen(table->columns[i].head);
	for (size_t i = 0; i < table->n_cells; i++) {
		length = strlen(table->cells[i]);
		if (length > widths[i % table->n_columns])
			widths[i % table->n_columns] = length;
	}
}

/* Row 0 is the heads'. Return: the line, to be freed. */
char *table_line(const struct table *table, const int *widths, size_t row)
{
	char *line = NULL, *cell;
	bool last;
	size_t size = 0;
	FILE *file = open_memstream(&line, &size);

	if (!file)
		return formatted("?");
	for (size_t i = 0; i < table->n_columns; i++) {
		last = i == table->n_columns - 1;
		cell = row ? table->cells[(row - 1) * table->n_columns + i] :
			     (char *)table->columns[i].head;
		if (table->columns[i].left)
			fprintf(file, "%-*s", last ? 0 : widths[i], cell);
		else
			fprintf(file, "%*s", widths[i], cell);
		if (!last)
			fputs("  ", file);
	}
	fclose(file);
	return line;
}

void table_print(const struct table *table, FILE *file)
{
	int widths[table->n_columns];
	char *line;

	table_widths(table, widths);
	for (size_t row = 0; row <= table_rows(table); row++) {
		line = table_line(table, widths, row);
		fprintf(file, "%s\n", line);
		free(line);
	}
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->n_cells = 0;
}
