/* record_stream.h - assembles records from bytes that arrive in pieces of any size. */
#ifndef PLIANT_CLIENTS_CLI_NET_RECORD_STREAM_H
#define PLIANT_CLIENTS_CLI_NET_RECORD_STREAM_H

#include "protocol/log/record.h"

typedef struct pl_record_stream {
    unsigned char *bytes; /* of the incomplete record */
    size_t size, capacity;
    bool broken; /* the bytes are not records, or a payload's CRC is wrong */
    /* Takes each whole record; false stops the stream. */
    bool (*take)(void *context, const pl_record *record, const unsigned char *payload);
    void *context;
} pl_record_stream;

/* Feed the next bytes. False if the taker stopped or the stream is broken. */
bool pl_record_stream_feed(pl_record_stream *s, const char *data, size_t size);
/* Discard an incomplete record, before reading the stream again. */
void pl_record_stream_reset(pl_record_stream *s);
void pl_record_stream_clear(pl_record_stream *s);

#endif
