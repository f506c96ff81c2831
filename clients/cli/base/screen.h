/* screen.h - the whole terminal for a live view: drawn in place, and restored however the program ends. */
#ifndef PLIANT_CLIENTS_CLI_BASE_SCREEN_H
#define PLIANT_CLIENTS_CLI_BASE_SCREEN_H

#include <stdbool.h>

/* Take over standard output's terminal; keys arrive one by one and are not echoed. False if standard input or output is
 * not a terminal. It is restored by close, at exit, by a fatal signal, and while the program is stopped (Ctrl-Z). */
bool pl_screen_open(void);
void pl_screen_close(void);

void pl_screen_size(int *rows, int *columns);
/* Draw the screen's whole text, lines that end in newlines. */
void pl_screen_draw(const char *text);
/* Wait up to `seconds` for a key and return its byte; 0 if no key came, the window changed or Ctrl-C was pressed. */
int pl_screen_key(double seconds);

#endif
