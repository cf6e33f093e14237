/* Messages in chains of mbufs: nothing of them is copied, unless a cipher is NULL. */
#ifndef LANELOCK_DPDK_MBUF_H
#define LANELOCK_DPDK_MBUF_H

#include "burst.h"

#include <rte_mbuf.h>

/* Lists the pieces of a range; nothing if the message is shorter, or the list has no room. */
struct run mbuf_list(struct burst *burst, const struct rte_mbuf *mbuf, struct extent range);

/* Copies a range of a message to the same range of another; false if one is shorter. */
bool mbuf_copy(const struct rte_mbuf *from, struct rte_mbuf *to, struct extent range);

/* As mbuf_list; a range in the first mbuf is not listed. */
static inline struct run mbuf_place(struct burst *burst, const struct rte_mbuf *mbuf,
                                    struct extent range)
{
    if (unlikely((uint64_t)range.at + range.len > mbuf->data_len))
        return mbuf_list(burst, mbuf, range);
    return (struct run){
        .base = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, range.at),
        .len = range.len,
    };
}

#endif
