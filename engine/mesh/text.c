#include "engine/mesh/text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

pl_text_outcome pl_text_integer(const char *token, size_t length, int64_t *value)
{
    const char *s = token, *end = token + length;
    bool negative = false;
    if (s < end && (*s == '-' || *s == '+'))
        negative = *s++ == '-';
    if (s == end)
        return PL_TEXT_NOT_A_NUMBER;
    uint64_t magnitude = 0;
    bool too_big = false;
    for (; s < end; s++) {
        if (!is_digit(*s))
            return PL_TEXT_NOT_A_NUMBER;
        unsigned digit = (unsigned)(*s - '0');
        too_big |= magnitude > ((uint64_t)INT64_MAX - digit) / 10;
        if (!too_big)
            magnitude = magnitude * 10 + digit;
    }
    if (too_big)
        return PL_TEXT_OUT_OF_RANGE;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return PL_TEXT_FINE;
}

/* nan, inf, infinity and the variants that other systems' printf writes, after a sign. */
static bool names_no_number(const char *s, const char *end)
{
    if (s < end && (*s == '-' || *s == '+'))
        s++;
    return end - s >= 3 && (strncasecmp(s, "nan", 3) == 0 || strncasecmp(s, "inf", 3) == 0);
}

/* A parsed decimal number: value = mantissa 10^exponent, exact unless `long_mantissa`. */
typedef struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    bool negative, long_mantissa;
} decimal;

static const char *scan_digits(const char *s, const char *end, decimal *d, int64_t *digits)
{
    for (; s < end && is_digit(*s); s++, (*digits)++) {
        if (d->mantissa > (UINT64_MAX - 9) / 10)
            d->long_mantissa = true;
        else
            d->mantissa = d->mantissa * 10 + (uint64_t)(*s - '0');
    }
    return s;
}

/* sign digits [. digits] [e sign digits], the whole token; false for anything else. */
static bool scan_decimal(const char *s, const char *end, decimal *d)
{
    *d = (decimal){0};
    if (s < end && (*s == '-' || *s == '+'))
        d->negative = *s++ == '-';
    int64_t whole = 0, fraction = 0;
    s = scan_digits(s, end, d, &whole);
    if (s < end && *s == '.')
        s = scan_digits(s + 1, end, d, &fraction);
    if (whole + fraction == 0)
        return false;
    d->exponent = -fraction;
    if (s < end && (*s == 'e' || *s == 'E')) {
        s++;
        bool down = false;
        if (s < end && (*s == '-' || *s == '+'))
            down = *s++ == '-';
        if (s == end)
            return false;
        int64_t e = 0;
        for (; s < end && is_digit(*s); s++)
            e = e < 100000 ? e * 10 + (*s - '0') : e;
        d->exponent += down ? -e : e;
    }
    return s == end;
}

/* A mantissa up to 2^53 and a power of ten up to 10^22 are both doubles exactly, so one operation rounds once and
 * the result is the nearest double (Clinger 1990). */
static bool convert_exactly(const decimal *d, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d->long_mantissa || d->mantissa > (1ull << 53) || d->exponent < -22 || d->exponent > 22)
        return false;
    double m = (double)d->mantissa;
    double v = d->exponent < 0 ? m / power[-d->exponent] : m * power[d->exponent];
    *value = d->negative ? -v : v;
    return true;
}

pl_text_outcome pl_text_real(const char *token, size_t length, double *value)
{
    decimal d;
    if (!scan_decimal(token, token + length, &d))
        return names_no_number(token, token + length) ? PL_TEXT_NOT_FINITE : PL_TEXT_NOT_A_NUMBER;
    if (convert_exactly(&d, value))
        return PL_TEXT_FINE;
    if (length > PL_TEXT_NUMBER_MAX)
        return PL_TEXT_OUT_OF_RANGE;
    char copy[PL_TEXT_NUMBER_MAX + 1];
    memcpy(copy, token, length);
    copy[length] = 0;
    /* The "C" locale object is a constant of the C library: nothing is allocated here. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double v = strtod_l(copy, NULL, plain);
    freelocale(plain);
    if (!isfinite(v))
        return PL_TEXT_NOT_FINITE;
    *value = v;
    return PL_TEXT_FINE;
}

const char *pl_text_quote(const char *token, size_t length, char out[PL_TEXT_QUOTE_MAX])
{
    enum { SHOWN = PL_TEXT_QUOTE_MAX - 5 };
    size_t n = length < SHOWN ? length : SHOWN;
    char *o = out;
    *o++ = '\'';
    for (size_t i = 0; i < n; i++)
        *o++ = token[i] >= ' ' && token[i] <= '~' ? token[i] : '?';
    if (length > SHOWN) {
        *o++ = '.';
        *o++ = '.';
    }
    *o++ = '\'';
    *o = 0;
    return out;
}

/* Length of the well-formed UTF-8 character at s, 0 if none (Unicode 15, table 3-7). */
static size_t character_length(const unsigned char *s, size_t left)
{
    if (s[0] >= ' ' && s[0] < 0x7F)
        return 1;
    size_t n = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
               : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
               : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                              : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] > 0x9F;
    bool beyond = s[0] == 0xF4 && s[1] > 0x8F;
    bool control = s[0] == 0xC2 && s[1] < 0xA0;
    return overlong || surrogate || beyond || control ? 0 : n;
}

void pl_text_copy_name(const char *name, size_t length, char *out, size_t room)
{
    const unsigned char *s = (const unsigned char *)name;
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t n = character_length(s + i, length - i);
        size_t take = n ? n : 1;
        if (used + take > room)
            break;
        if (n)
            memcpy(out + used, s + i, n);
        else
            out[used] = '?';
        used += take;
        i += take;
    }
    out[used] = 0;
}

int64_t pl_text_line(const char *base, const char *at)
{
    int64_t line = 1;
    while (base < at && (base = memchr(base, '\n', (size_t)(at - base)))) {
        base++;
        line++;
    }
    return line;
}
