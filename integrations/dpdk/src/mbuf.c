#include "mbuf.h"

struct run mbuf_list(struct burst *burst, const struct rte_mbuf *mbuf, struct extent range)
{
    uint32_t first = burst->pieces, at = range.at, left = range.len;
    struct iovec *piece = burst->list + first;
    const struct iovec *end = burst->list + burst->room;
    for (; mbuf && at >= mbuf->data_len && left; mbuf = mbuf->next)
        at -= mbuf->data_len;
    for (; mbuf && left; mbuf = mbuf->next, at = 0) {
        uint32_t len = RTE_MIN(left, mbuf->data_len - at);
        if (piece == end)
            return (struct run){ 0 };
        if (!len)
            continue;
        *piece++ = (struct iovec){
            .iov_base = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, at),
            .iov_len = len,
        };
        left -= len;
    }
    burst->pieces = (uint32_t)(piece - burst->list);
    return left ? (struct run){ 0 } : burst_listed(burst, first);
}

bool mbuf_copy(const struct rte_mbuf *from, struct rte_mbuf *to, struct extent range)
{
    uint32_t at = range.at, left = range.len;
    for (; to && at >= to->data_len && left; to = to->next)
        at -= to->data_len;
    for (uint32_t done = range.at; to && left; to = to->next, at = 0) {
        uint32_t len = RTE_MIN(left, to->data_len - at);
        uint8_t *place = rte_pktmbuf_mtod_offset(to, uint8_t *, at);
        const void *read = rte_pktmbuf_read(from, done, len, place);
        if (!read)
            return false;
        if (read != place)
            memcpy(place, read, len);
        done += len;
        left -= len;
    }
    return left == 0;
}
