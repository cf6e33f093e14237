/* What the files of the check share. */
#ifndef LANELOCK_DPDK_CHECK_H
#define LANELOCK_DPDK_CHECK_H

#include <rte_cryptodev.h>
#include <rte_mbuf.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { OPS = 4096, DESCRIPTORS = 64, IV_AT = 96, LEN = 1000, TAG = 16 };

extern struct rte_mempool *ops_pool, *mbufs, *sessions;
extern uint8_t device;
extern unsigned int failures;

#define EXPECT(condition, ...)                                     \
    do {                                                           \
        if (!(condition)) {                                        \
            failures++;                                            \
            printf("%s:%d: %s: ", __func__, __LINE__, #condition); \
            printf(__VA_ARGS__);                                   \
            putchar('\n');                                         \
        }                                                          \
    } while (0)

/* The same numbers in every run. */
uint32_t chance(uint32_t below);

/* The device with so many queue pairs of DESCRIPTORS, its counters at 0. */
void start(uint16_t queues);

/* AES-128-GCM with one of 256 keys. */
struct rte_crypto_sym_xform gcm(bool opens, uint8_t key);
void *session(struct rte_crypto_sym_xform *xform);

/* A message of `len` bytes in `pieces`, cut anywhere; of zeros without `bytes`. */
struct rte_mbuf *message(const uint8_t *bytes, uint32_t len, uint32_t pieces);
struct rte_crypto_op *operation(void *with, struct rte_mbuf *from, struct rte_mbuf *to, uint32_t at,
                                uint32_t len, uint8_t *tag);
void drop(struct rte_crypto_op *op);

/* Dequeues up to `wanted`, `at_once` at a time, until none comes. */
uint32_t finish(uint16_t queue, struct rte_crypto_op **done, uint32_t wanted, uint16_t at_once);

void check_full_queue(void);
void check_failures(void);
void check_refusals(void);
void check_pieces(void);
void check_sessions(void);
void check_threads(void);
void check_synchronous(void);
void check_keys(void);

#endif
