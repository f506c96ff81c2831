/* ticker.h - calls registered functions about once a second, on a separate thread that reads no file, so that a slow
 * disk does not stop heartbeats. One mutex guards the list; it is taken before a ticker's own.
 */
#ifndef PLIANT_SERVER_BASE_TICKER_H
#define PLIANT_SERVER_BASE_TICKER_H

#include <stdint.h>

typedef struct pl_ticker {
    struct pl_ticker *next, **slot;
    void (*tick)(struct pl_ticker *ticker, int64_t now_ms);
} pl_ticker;

typedef struct pl_tickers pl_tickers;
pl_tickers *pl_tickers_create(void); /* NULL with a line in the log */
void pl_tickers_destroy(pl_tickers *tickers);
void pl_tickers_enlist(pl_tickers *tickers, pl_ticker *ticker);
void pl_tickers_delist(pl_tickers *tickers, pl_ticker *ticker);
/* Call them all now. */
void pl_tickers_tick(pl_tickers *tickers);

#endif
