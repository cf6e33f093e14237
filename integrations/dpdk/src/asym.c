#include "asym.h"

#include <stdlib.h>

enum { BATCH = 64 };

struct asym_burst {
    lanelock_key_queue *queue;
    uint32_t count;
    struct rte_crypto_op *asked[BATCH];
    struct asym_place places[BATCH];
    lanelock_key_op ops[BATCH];
    uint8_t input[BATCH][LONGEST_NUMBER], output[BATCH][LONGEST_NUMBER];
};

static struct asym_burst *make(void)
{
    lanelock_error error;
    struct asym_burst *burst = calloc(1, sizeof *burst);
    lanelock_key_queue_options options = { .size = sizeof options, .depth = BATCH };
    if (!burst ||
        lanelock_key_queue_new(driver_device(), &options, &burst->queue, &error) != LANELOCK_OK) {
        free(burst);
        return NULL;
    }
    for (int i = 0; i < BATCH; i++)
        burst->places[i] = (struct asym_place){
            .op = &burst->ops[i], .input = burst->input[i], .output = burst->output[i]
        };
    return burst;
}

static bool describe(struct asym_place *place, const struct rte_crypto_op *op)
{
    switch (asym_session_of(op)->type) {
    case RTE_CRYPTO_ASYM_XFORM_RSA:
        return rsa_describe(place, op);
    case RTE_CRYPTO_ASYM_XFORM_ECDSA:
        return ecdsa_describe(place, op);
    case RTE_CRYPTO_ASYM_XFORM_ECDH:
        return ecdh_describe(place, op);
    default:
        return dsa_describe(place, op);
    }
}

static uint8_t conclude(const struct asym_place *place, struct rte_crypto_op *op)
{
    if (place->op->status != LANELOCK_SUCCESS) {
        DRIVER_LOG(DEBUG, "%s", lanelock_key_reason(place->op->reason));
        return status_of(place->op->status);
    }
    switch (asym_session_of(op)->type) {
    case RTE_CRYPTO_ASYM_XFORM_RSA:
        return rsa_conclude(place, op);
    case RTE_CRYPTO_ASYM_XFORM_ECDSA:
        return ecdsa_conclude(place, op);
    case RTE_CRYPTO_ASYM_XFORM_ECDH:
        return ecdh_conclude(place, op);
    default:
        return dsa_conclude(place, op);
    }
}

static bool is_modular(const struct rte_crypto_op *op)
{
    switch (asym_session_of(op)->type) {
    case RTE_CRYPTO_ASYM_XFORM_MODEX:
    case RTE_CRYPTO_ASYM_XFORM_MODINV:
    case RTE_CRYPTO_ASYM_XFORM_DH:
        return true;
    default:
        return false;
    }
}

static bool end(struct rte_crypto_op *op, uint8_t status)
{
    op->status = status;
    return false;
}

bool asym_add(struct asym_burst **made, struct rte_crypto_op *op, uint8_t driver)
{
    const struct rte_cryptodev_asym_session *generic = op->asym->session;
    if (op->sess_type != RTE_CRYPTO_OP_WITH_SESSION || !generic || generic->driver_id != driver)
        return end(op, RTE_CRYPTO_OP_STATUS_INVALID_SESSION);
    if (is_modular(op))
        return end(op, modular_run(op));
    if (!*made && !(*made = make()))
        return end(op, RTE_CRYPTO_OP_STATUS_ERROR);
    struct asym_burst *burst = *made;
    struct asym_place *place = &burst->places[burst->count];
    if (!describe(place, op)) {
        lanelock_key_session_free(place->own);
        place->own = NULL;
        return end(op, RTE_CRYPTO_OP_STATUS_INVALID_ARGS);
    }
    burst->asked[burst->count++] = op;
    return true;
}

uint32_t asym_run(struct asym_burst *burst)
{
    uint32_t failed = 0;
    lanelock_key_process(burst->queue, burst->ops, burst->count);
    for (uint32_t i = 0; i < burst->count; i++) {
        struct asym_place *place = &burst->places[i];
        burst->asked[i]->status = conclude(place, burst->asked[i]);
        failed += burst->asked[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
        lanelock_key_session_free(place->own);
        place->own = NULL;
        explicit_bzero(place->input, LONGEST_NUMBER);
        explicit_bzero(place->output, LONGEST_NUMBER);
    }
    burst->count = 0;
    return failed;
}

void asym_burst_free(struct asym_burst *burst)
{
    if (!burst)
        return;
    lanelock_key_queue_free(burst->queue);
    free(burst);
}
