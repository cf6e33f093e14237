#include "bson.h"
#include <string.h>

enum { ENCRYPTED = 6 };

/* A little-endian number of 32 bits; lengths are not negative. */
static size_t number(const uint8_t *at) {
    return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

/* Length of the string at the start with its zero byte, or more than `left` if it does not end. */
static size_t string_length(const uint8_t *at, size_t left) {
    const uint8_t *end = left == 0 ? NULL : memchr(at, 0, left);
    return end == NULL ? left + 1 : (size_t)(end - at) + 1;
}

/* Length of a value that is not a document, array or binary, or more than `left` if it does not fit. */
static size_t value_length(uint8_t type, const uint8_t *at, size_t left) {
    size_t first;

    switch (type) {
    case 0x06: case 0x0A: case 0x7F: case 0xFF: /* undefined, null, keys */
        return 0;
    case 0x08: /* boolean */
        return 1;
    case 0x10: /* int32 */
        return 4;
    case 0x01: case 0x09: case 0x11: case 0x12: /* double, date, timestamp, int64 */
        return 8;
    case 0x07: /* ObjectId */
        return 12;
    case 0x13: /* decimal128 */
        return 16;
    case 0x0B: /* regular expression: two strings without lengths */
        first = string_length(at, left);
        return first > left ? first : first + string_length(at + first, left - first);
    case 0x02: case 0x0D: case 0x0E: /* string, code, symbol */
        return left < 4 ? left + 1 : 4 + number(at);
    case 0x0C: /* DBPointer */
        return left < 4 ? left + 1 : 4 + number(at) + 12;
    case 0x0F: /* code with scope */
        return left < 4 ? left + 1 : number(at);
    default:
        return left + 1;
    }
}

void bson_walk(const uint8_t *bytes, size_t length, bson_found *found, void *context) {
    /* Documents lie in their parents in one piece: it is enough to count those that are open. */
    size_t at = 4, open = 1, step;

    while (open > 0 && at < length) {
        uint8_t type = bytes[at++];

        if (type == 0) {
            open--;
            continue;
        }
        step = string_length(bytes + at, length - at);
        if (step > length - at) {
            return;
        }
        at += step;
        if (type == 0x03 || type == 0x04) { /* document, array */
            step = 4;
            open++;
        } else if (type == 0x05) { /* binary: length, subtype, bytes */
            if (length - at < 5 || number(bytes + at) > length - at - 5) {
                return;
            }
            step = number(bytes + at) + 5;
            if (bytes[at + 4] == ENCRYPTED &&
                !found(context, bytes + at + 5, (uint32_t)(step - 5))) {
                return;
            }
        } else {
            step = value_length(type, bytes + at, length - at);
        }
        if (step > length - at) {
            return;
        }
        at += step;
    }
}
