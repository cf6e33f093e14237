/* Encrypted values in a BSON document. */
#ifndef BSON_H
#define BSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An encrypted value: a binary of subtype 6. Returns false to end the walk. */
typedef bool bson_found(void *context, const uint8_t *value, uint32_t length);

/* Calls `found` for every encrypted value of a document, of those in it and of arrays, in their order.
 * Ends where the document is malformed. */
void bson_walk(const uint8_t *bytes, size_t length, bson_found *found, void *context);

#endif
