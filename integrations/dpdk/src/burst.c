/* Runs bursts; keeps the room that they need. */
#include "burst.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

int burst_init(struct burst *burst)
{
    lanelock_error error;
    memset(burst, 0, sizeof *burst);
    if (!burst_grow(burst, FIRST_ROOM))
        return -ENOMEM;
    if (lanelock_queue_pair_new(driver_device(), 0, &burst->queue, &error) == LANELOCK_OK)
        return 0;
    DRIVER_LOG(ERR, "%s", error.text);
    burst_free(burst);
    return -ENOMEM;
}

void burst_free(struct burst *burst)
{
    lanelock_queue_pair_free(burst->queue);
    free(burst->list);
    explicit_bzero(burst, sizeof *burst);
}

bool burst_grow(struct burst *burst, uint32_t pieces)
{
    if (pieces <= burst->room)
        return true;
    free(burst->list);
    burst->list = malloc(pieces * sizeof *burst->list);
    burst->room = burst->list ? pieces : 0;
    return burst->list != NULL;
}

/* In time that does not depend on where they differ. */
static bool equal(const uint8_t *one, const uint8_t *other, uint32_t len)
{
    uint8_t differs = 0;
    for (uint32_t i = 0; i < len; i++)
        differs |= one[i] ^ other[i];
    return differs == 0;
}

static bool compare(struct burst *burst)
{
    bool failed = false;
    for (uint32_t i = 0; i < burst->count; i++) {
        lanelock_op *op = &burst->ops[i];
        if (!burst->expected[i] || op->status != LANELOCK_SUCCESS)
            continue;
        if (!equal(burst->digest[i], burst->expected[i], op->tag_len)) {
            op->status = LANELOCK_AUTH_FAILED;
            failed = true;
        }
        explicit_bzero(burst->digest[i], sizeof burst->digest[i]);
    }
    return failed;
}

bool burst_run(struct burst *burst)
{
    ptrdiff_t succeeded = lanelock_process(burst->queue, burst->ops, burst->count);
    bool failed = succeeded != (ptrdiff_t)burst->count;
    if (unlikely(burst->compares))
        failed |= compare(burst);
    return failed;
}
