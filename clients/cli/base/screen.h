/* screen.h - the whole terminal for a live view: drawn in place, given back as it was however the program ends. */
#ifndef PLIANT_CLIENTS_CLI_BASE_SCREEN_H
#define PLIANT_CLIENTS_CLI_BASE_SCREEN_H

#include <stdbool.h>

/* Take standard output's terminal; keys come one by one and are not shown. False where standard input or output is
 * none. It is given back by close, at the program's end, by a signal that ends it, and while it is stopped (Ctrl-Z). */
bool pl_screen_open(void);
void pl_screen_close(void);

void pl_screen_size(int *rows, int *columns);
/* The screen's whole text, lines that end in newlines. */
void pl_screen_draw(const char *text);
/* Wait for a key for so long: its byte; 0 where none came, also where the window changed or Ctrl-C was pressed. */
int pl_screen_key(double seconds);

#endif
