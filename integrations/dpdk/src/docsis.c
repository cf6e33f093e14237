/* DOCSIS frames by rte_security: a CRC of the frame, which is encrypted with it, in one operation. */
#include "driver.h"

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_net_crc.h>
#include <rte_security.h>
#include <rte_security_driver.h>

#include <errno.h>

static unsigned int security_session_size(void *dev)
{
    (void)dev;
    return sizeof(struct session);
}

static int security_session_create(void *dev, struct rte_security_session_conf *conf,
                                   struct rte_security_session *generic)
{
    const struct rte_crypto_sym_xform *xform = conf->crypto_xform;
    (void)dev;
    if (conf->action_type != RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL ||
        conf->protocol != RTE_SECURITY_PROTOCOL_DOCSIS)
        return -ENOTSUP;
    enum rte_crypto_cipher_operation expected = conf->docsis.direction == RTE_SECURITY_DOCSIS_DOWNLINK
                                                    ? RTE_CRYPTO_CIPHER_OP_ENCRYPT
                                                    : RTE_CRYPTO_CIPHER_OP_DECRYPT;
    if (!xform || xform->next || xform->type != RTE_CRYPTO_SYM_XFORM_CIPHER ||
        xform->cipher.algo != RTE_CRYPTO_CIPHER_AES_DOCSISBPI || xform->cipher.op != expected)
        return -EINVAL;
    struct session *session = SECURITY_GET_SESS_PRIV(generic);
    int failed = session_prepare(session, xform);
    session->flags |= SESSION_CRC;
    if (expected == RTE_CRYPTO_CIPHER_OP_DECRYPT)
        session->flags |= SESSION_CHECKS_CRC;
    return failed;
}

static int security_session_destroy(void *dev, struct rte_security_session *generic)
{
    (void)dev;
    session_drop(SECURITY_GET_SESS_PRIV(generic));
    return 0;
}

static const struct rte_security_capability *security_capabilities(void *dev)
{
    static struct rte_cryptodev_capabilities cipher[2];
    static const struct rte_security_capability table[] = {
        { .action = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
          .protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
          .docsis = { .direction = RTE_SECURITY_DOCSIS_UPLINK },
          .crypto_capabilities = cipher },
        { .action = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
          .protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
          .docsis = { .direction = RTE_SECURITY_DOCSIS_DOWNLINK },
          .crypto_capabilities = cipher },
        { .action = RTE_SECURITY_ACTION_TYPE_NONE },
    };
    static const struct rte_security_capability none[] = { { .action = RTE_SECURITY_ACTION_TYPE_NONE } };
    (void)dev;
    const struct rte_cryptodev_capabilities *row = capabilities();
    for (; row->op != RTE_CRYPTO_OP_TYPE_UNDEFINED; row++)
        if (row->sym.xform_type == RTE_CRYPTO_SYM_XFORM_CIPHER &&
            row->sym.cipher.algo == RTE_CRYPTO_CIPHER_AES_DOCSISBPI) {
            cipher[0] = *row;
            return table;
        }
    return none;
}

static const struct rte_security_ops operations = {
    .session_create = security_session_create,
    .session_get_size = security_session_size,
    .session_destroy = security_session_destroy,
    .capabilities_get = security_capabilities,
};

void *docsis_context(struct rte_cryptodev *dev)
{
    struct rte_security_ctx *context = rte_zmalloc("lanelock", sizeof *context, 0);
    if (context)
        *context = (struct rte_security_ctx){ .device = dev, .ops = &operations };
    return context;
}

/* The CRC's place in the frame, and what it is over; NULL where the frame has none of its own. */
static uint8_t *checked(const struct rte_crypto_sym_op *sym, uint8_t **covered)
{
    *covered = rte_pktmbuf_mtod_offset(sym->m_src, uint8_t *, sym->auth.data.offset);
    return sym->auth.data.length ? *covered + sym->auth.data.length : NULL;
}

bool docsis_begin(const struct rte_crypto_op *op, const struct session *session)
{
    const struct rte_crypto_sym_op *sym = op->sym;
    uint64_t end = (uint64_t)sym->auth.data.offset + sym->auth.data.length + RTE_ETHER_CRC_LEN;
    uint8_t *covered, *place = checked(sym, &covered);
    if ((sym->m_dst && sym->m_dst != sym->m_src) || (place && end > sym->m_src->data_len))
        return false;
    if (place && !(session->flags & SESSION_CHECKS_CRC)) {
        uint32_t crc = rte_net_crc_calc(covered, sym->auth.data.length, RTE_NET_CRC32_ETH);
        memcpy(place, &crc, sizeof crc);
    }
    return true;
}

bool docsis_matches(const struct rte_crypto_op *op)
{
    uint8_t *covered, *place = checked(op->sym, &covered);
    if (!place)
        return true;
    uint32_t crc = rte_net_crc_calc(covered, op->sym->auth.data.length, RTE_NET_CRC32_ETH);
    return memcmp(place, &crc, sizeof crc) == 0;
}
