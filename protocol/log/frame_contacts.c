#include "protocol/log/frame_contacts.h"

#include "protocol/text/bytes.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NUMBERS = 7 };

static void numbers_of(const pl_contact_point *point, double out[NUMBERS])
{
    memcpy(out, point->place, sizeof point->place);
    memcpy(out + 3, point->newton, sizeof point->newton);
    out[6] = point->gap;
}

void pl_frame_contacts_encode(const pl_frame_header *h, const pl_contact_point *points,
                              int64_t count, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++, out += pl_frame_point_bytes(h)) {
        double number[NUMBERS];
        numbers_of(&points[i], number);
        for (int k = 0; k < 2; k++)
            pl_put_u32(out + 4 * k, (uint32_t)points[i].body[k]);
        for (int k = 0; k < NUMBERS; k++) {
            const float narrow = (float)fmax(fmin(number[k], (double)FLT_MAX), -(double)FLT_MAX);
            if (h->dtype == PL_DTYPE_F64)
                pl_put_f64(out + 8 + 8 * k, number[k]);
            else
                memcpy(out + 8 + 4 * k, &narrow, sizeof narrow);
        }
    }
}

static double get_number(const pl_frame_header *h, const unsigned char *numbers, int k)
{
    float narrow;
    if (h->dtype == PL_DTYPE_F64)
        return pl_get_f64(numbers + 8 * k);
    memcpy(&narrow, numbers + 4 * k, sizeof narrow);
    return (double)narrow;
}

void pl_frame_contacts_decode(const pl_frame_header *h, const unsigned char *stored, int64_t count,
                              pl_contact_point *out)
{
    for (int64_t i = 0; i < count; i++, stored += pl_frame_point_bytes(h)) {
        for (int k = 0; k < 2; k++)
            out[i].body[k] = (int32_t)pl_get_u32(stored + 4 * k);
        for (int c = 0; c < 3; c++) {
            out[i].place[c] = get_number(h, stored + 8, c);
            out[i].newton[c] = get_number(h, stored + 8, 3 + c);
        }
        out[i].gap = get_number(h, stored + 8, 6);
    }
}

const unsigned char *pl_frame_contacts_at(const pl_frame_header *h, const unsigned char *payload)
{
    return payload + PL_FRAME_HEADER + pl_frame_body_bytes(h) -
           h->contacts * pl_frame_point_bytes(h);
}
