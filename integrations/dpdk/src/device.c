/* Virtual devices: probing, removal, and what they say of themselves. */
#include "asym_session.h"

#include <bus_vdev_driver.h>
#include <rte_cpuflags.h>
#include <rte_version.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

RTE_LOG_REGISTER(driver_log_type, pmd.crypto.lanelock, NOTICE);

struct device {
    unsigned int max_queue_pairs;
};

static lanelock_device *opened;

static void open_device(void)
{
    lanelock_error error;
    if (lanelock_device_open(&opened, &error) != LANELOCK_OK)
        DRIVER_LOG(ERR, "%s", error.text);
}

lanelock_device *driver_device(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_device);
    return opened;
}

static int device_configure(struct rte_cryptodev *dev, struct rte_cryptodev_config *config)
{
    (void)dev;
    (void)config;
    return 0;
}

static int device_start(struct rte_cryptodev *dev)
{
    (void)dev;
    return 0;
}

static void device_stop(struct rte_cryptodev *dev)
{
    (void)dev;
}

/* cryptodev releases no queue pair before it closes a device. */
static int device_close(struct rte_cryptodev *dev)
{
    for (uint16_t id = 0; id < dev->data->nb_queue_pairs; id++)
        queue_release(dev, id);
    return 0;
}

static void device_info(struct rte_cryptodev *dev, struct rte_cryptodev_info *info)
{
    const struct device *device = dev->data->dev_private;
    info->driver_id = dev->driver_id;
    info->feature_flags = dev->feature_flags;
    info->capabilities = capabilities();
    info->max_nb_queue_pairs = device->max_queue_pairs;
    info->min_mbuf_headroom_req = 0;
    info->min_mbuf_tailroom_req = 0;
    info->sym.max_nb_sessions = 0; /* any number */
}

static struct rte_cryptodev_ops operations = {
    .dev_configure = device_configure,
    .dev_start = device_start,
    .dev_stop = device_stop,
    .dev_close = device_close,
    .dev_infos_get = device_info,
    .stats_get = queue_stats,
    .stats_reset = queue_stats_reset,
    .queue_pair_setup = queue_setup,
    .queue_pair_release = queue_release,
    .sym_session_get_size = session_size,
    .sym_session_configure = session_configure,
    .sym_session_clear = session_clear,
    .sym_cpu_process = cpu_process,
    .asym_session_get_size = asym_session_size,
    .asym_session_configure = asym_session_configure,
    .asym_session_clear = asym_session_clear,
};

static uint64_t features(void)
{
    uint64_t features =
        RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO | RTE_CRYPTODEV_FF_SYM_OPERATION_CHAINING |
        RTE_CRYPTODEV_FF_IN_PLACE_SGL | RTE_CRYPTODEV_FF_OOP_SGL_IN_SGL_OUT |
        RTE_CRYPTODEV_FF_OOP_SGL_IN_LB_OUT | RTE_CRYPTODEV_FF_OOP_LB_IN_SGL_OUT |
        RTE_CRYPTODEV_FF_OOP_LB_IN_LB_OUT | RTE_CRYPTODEV_FF_SYM_SESSIONLESS |
        RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO | RTE_CRYPTODEV_FF_DIGEST_ENCRYPTED | RTE_CRYPTODEV_FF_SECURITY |
        RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO | RTE_CRYPTODEV_FF_RSA_PRIV_OP_KEY_EXP |
        RTE_CRYPTODEV_FF_RSA_PRIV_OP_KEY_QT;
#ifdef RTE_ARCH_X86
    static const struct {
        enum rte_cpu_flag_t flag;
        uint64_t feature;
    } instructions[] = {
        { RTE_CPUFLAG_AES, RTE_CRYPTODEV_FF_CPU_AESNI },
        { RTE_CPUFLAG_AVX2, RTE_CRYPTODEV_FF_CPU_AVX2 },
        { RTE_CPUFLAG_AVX512F, RTE_CRYPTODEV_FF_CPU_AVX512 },
    };
    for (size_t i = 0; i < RTE_DIM(instructions); i++)
        if (rte_cpu_get_flag_enabled(instructions[i].flag) > 0)
            features |= instructions[i].feature;
#endif
#ifdef LANELOCK_TWIN
    /* DPDK's tests of the synchronous call stop at the first test of an encrypted digest: that knows
     * the queue alone. */
    const char *synchronous = getenv("LANELOCK_TWIN_SYNCHRONOUS");
    if (synchronous && *synchronous)
        features &= ~RTE_CRYPTODEV_FF_DIGEST_ENCRYPTED;
#endif
    return features;
}

static int create(struct rte_vdev_device *vdev, uint8_t driver_id)
{
    struct rte_cryptodev_pmd_init_params params = {
        .private_data_size = sizeof(struct device),
        .socket_id = (int)rte_socket_id(),
        .max_nb_queue_pairs = RTE_CRYPTODEV_PMD_DEFAULT_MAX_NB_QUEUE_PAIRS,
    };
    const char *name = rte_vdev_device_name(vdev);
    if (!name || rte_cryptodev_pmd_parse_input_args(&params, rte_vdev_device_args(vdev)) != 0) {
        DRIVER_LOG(ERR, "unknown arguments: %s", rte_vdev_device_args(vdev));
        return -EINVAL;
    }
    if (!driver_device())
        return -ENODEV;
    struct rte_cryptodev *dev = rte_cryptodev_pmd_create(name, &vdev->device, &params);
    if (!dev) {
        DRIVER_LOG(ERR, "%s: cannot create the device", name);
        return -ENODEV;
    }
    dev->driver_id = driver_id;
    dev->dev_ops = &operations;
    dev->enqueue_burst = queue_enqueue;
    dev->dequeue_burst = queue_dequeue;
    dev->feature_flags = features();
    struct device *device = dev->data->dev_private;
    device->max_queue_pairs = params.max_nb_queue_pairs;
    dev->security_ctx = docsis_context(dev);
    if (!dev->security_ctx)
        dev->feature_flags &= ~RTE_CRYPTODEV_FF_SECURITY;
    rte_cryptodev_pmd_probing_finish(dev);
    DRIVER_LOG(INFO, "%s: lanelock %s", name, lanelock_version());
    return 0;
}

static int device_remove(struct rte_vdev_device *vdev)
{
    const char *name = rte_vdev_device_name(vdev);
    struct rte_cryptodev *dev = name ? rte_cryptodev_pmd_get_named_dev(name) : NULL;
    if (!dev)
        return -ENODEV;
    rte_free(dev->security_ctx);
    dev->security_ctx = NULL;
    return rte_cryptodev_pmd_destroy(dev);
}

#define ARGUMENTS "max_nb_queue_pairs=<int> socket_id=<int>"

/* A driver under a name. */
#define DRIVER(name)                                                                             \
    static uint8_t id_##name;                                                                    \
    static struct cryptodev_driver crypto_##name;                                                \
    static int probe_##name(struct rte_vdev_device *vdev)                                        \
    {                                                                                            \
        return create(vdev, id_##name);                                                          \
    }                                                                                            \
    static struct rte_vdev_driver vdev_##name = { .probe = probe_##name,                         \
                                                  .remove = device_remove };                     \
    RTE_PMD_REGISTER_VDEV(crypto_##name, vdev_##name);                                           \
    RTE_PMD_REGISTER_PARAM_STRING(crypto_##name, ARGUMENTS);                                     \
    RTE_PMD_REGISTER_CRYPTO_DRIVER(crypto_##name, vdev_##name.driver, id_##name)

#ifdef LANELOCK_TWIN
DRIVER(openssl);
DRIVER(aesni_mb);
DRIVER(aesni_gcm);
DRIVER(null);
#else
DRIVER(lanelock);
#endif
