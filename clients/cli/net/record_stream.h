/* record_stream.h - records out of bytes that arrive in pieces of any size. */
#ifndef PLIANT_CLIENTS_CLI_NET_RECORD_STREAM_H
#define PLIANT_CLIENTS_CLI_NET_RECORD_STREAM_H

#include "protocol/log/record.h"

typedef struct pl_record_stream {
    unsigned char *bytes; /* of the record that is being completed */
    size_t size, capacity;
    bool broken; /* the bytes are no records, or a payload's CRC is wrong */
    /* Takes each whole record; false stops the stream. */
    bool (*take)(void *context, const pl_record *record, const unsigned char *payload);
    void *context;
} pl_record_stream;

/* Take the next bytes in; false where the taker stopped or the stream is broken. */
bool pl_record_stream_feed(pl_record_stream *s, const char *data, size_t size);
/* Forget an incomplete record, as before reading the stream anew. */
void pl_record_stream_reset(pl_record_stream *s);
void pl_record_stream_clear(pl_record_stream *s);

#endif
