/* Comparing and wiping secrets. */
#ifndef SECRET_H
#define SECRET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { KEY_LEN = 32 };

/* Eight bytes, in a register. */
static inline uint64_t secret_word(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Whether two secrets of 32 bytes are the same, in a time that does not depend on where they differ. */
static inline bool secret_equal(const uint8_t *a, const uint8_t *b) {
    uint64_t difference = 0;
    int i;

    for (i = 0; i < KEY_LEN; i += 8) {
        difference |= secret_word(a + i) ^ secret_word(b + i);
        /* The compiler must not leave at a word that differs. */
        __asm__("" : "+r"(difference));
    }
    return difference == 0;
}

#endif
