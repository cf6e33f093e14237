/* What follows is compiled into the program: filling in an operation costs no call. */

#if defined(__cplusplus)
#define LANELOCK_STATIC_ASSERT(condition, what) static_assert(condition, what)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define LANELOCK_STATIC_ASSERT(condition, what) _Static_assert(condition, what)
#else
#define LANELOCK_ASSERT_NAME_(line) lanelock_static_assert_##line
#define LANELOCK_ASSERT_NAME(line) LANELOCK_ASSERT_NAME_(line)
#define LANELOCK_STATIC_ASSERT(condition, what) \
    extern char LANELOCK_ASSERT_NAME(__LINE__)[(condition) ? 1 : -1]
#endif

LANELOCK_STATIC_ASSERT(sizeof(void *) == 8 && sizeof(size_t) == 8, "pointers have 64 bits");
LANELOCK_STATIC_ASSERT(sizeof(lanelock_op) == 128, "an operation has two cache lines");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, session) == 0, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, input) == 8, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, input_len) == 16, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, output) == 24, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, iv) == 40, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, cipher_len) == 56, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, auth_len) == 64, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, tag) == 72, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, aad) == 88, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, output_at) == 104, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, flags) == 108, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, status) == 110, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, reason) == 111, "layout");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_op, user_data) == 112, "layout");
LANELOCK_STATIC_ASSERT(sizeof(lanelock_key_op) == 128, "an operation has two cache lines");
LANELOCK_STATIC_ASSERT(offsetof(lanelock_key_op, status) == 96, "layout");
LANELOCK_STATIC_ASSERT(sizeof(struct iovec) == 16, "segments are struct iovec");

#ifdef __cplusplus
extern "C" {
#endif

/* A length as an operation holds it; what 32 bits cannot hold is refused when the operation runs. */
static inline uint32_t lanelock_length(size_t len) {
    return len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
}

/* An operation of nothing but a session. GCC makes a loop in microcode of more than a cache line at a
 * time, and keeps track of flags that are set by name. */
static inline void lanelock_op_clear(lanelock_op *op, const lanelock_session *session) {
    memset(op, 0, 64);
    memset((char *)op + 64, 0, sizeof *op - 64);
    op->session = session;
    op->flags = 0;
}

/* An operation whose result replaces its input. */
static inline void lanelock_op_in_place(lanelock_op *op, const lanelock_session *session,
                                        void *data, size_t len) {
    lanelock_op_clear(op, session);
    op->input = data;
    op->input_len = lanelock_length(len);
}

/* An operation with a separate output, which is written from its start. Input and output are the
 * same memory or disjoint. */
static inline void lanelock_op_separate(lanelock_op *op, const lanelock_session *session,
                                        const void *input, size_t input_len, void *output,
                                        size_t output_len) {
    lanelock_op_clear(op, session);
    op->input = (void *)(uintptr_t)input;
    op->input_len = lanelock_length(input_len);
    op->output = output;
    op->output_len = lanelock_length(output_len);
    op->flags = LANELOCK_OP_SEPARATE;
}

/* An operation of a MAC or hash: its input is only read, and its tag is a place of its own. */
static inline void lanelock_op_read_only(lanelock_op *op, const lanelock_session *session,
                                         const void *input, size_t len) {
    lanelock_op_clear(op, session);
    op->input = (void *)(uintptr_t)input;
    op->input_len = lanelock_length(len);
    op->flags = LANELOCK_OP_READ_ONLY;
}

/* As lanelock_op_in_place, for segments, which stay as they are until the operation has run. */
static inline void lanelock_op_in_place_v(lanelock_op *op, const lanelock_session *session,
                                          const struct iovec *segments, size_t count) {
    lanelock_op_in_place(op, session, (void *)(uintptr_t)segments, 0);
    op->input_segments = lanelock_length(count);
}

/* As lanelock_op_separate, for segments; the two lists may be split differently. */
static inline void lanelock_op_separate_v(lanelock_op *op, const lanelock_session *session,
                                          const struct iovec *input, size_t input_count,
                                          const struct iovec *output, size_t output_count) {
    lanelock_op_separate(op, session, input, 0, (void *)(uintptr_t)output, 0);
    op->input_segments = lanelock_length(input_count);
    op->output_segments = lanelock_length(output_count);
}

/* As lanelock_op_read_only, for segments. */
static inline void lanelock_op_read_only_v(lanelock_op *op, const lanelock_session *session,
                                           const struct iovec *segments, size_t count) {
    lanelock_op_read_only(op, session, segments, 0);
    op->input_segments = lanelock_length(count);
}

/* The IV, as a place of its own. */
static inline void lanelock_op_iv(lanelock_op *op, const void *iv, size_t len) {
    op->iv = (const uint8_t *)iv;
    op->iv_len = lanelock_length(len);
    op->flags = (uint16_t)(op->flags & ~LANELOCK_OP_IV_AT);
}

/* The IV lies in the input from this offset. */
static inline void lanelock_op_iv_at(lanelock_op *op, size_t offset) {
    op->iv_at = lanelock_length(offset);
    op->flags = (uint16_t)(op->flags | LANELOCK_OP_IV_AT);
}

/* Additional data, as a place of its own. */
static inline void lanelock_op_aad(lanelock_op *op, const void *aad, size_t len) {
    op->aad = (const uint8_t *)aad;
    op->aad_len = lanelock_length(len);
    op->flags = (uint16_t)(op->flags & ~LANELOCK_OP_AAD_AT);
}

/* Additional data that lies in the input. */
static inline void lanelock_op_aad_at(lanelock_op *op, size_t offset, size_t len) {
    op->aad_at = lanelock_length(offset);
    op->aad_len = lanelock_length(len);
    op->flags = (uint16_t)(op->flags | LANELOCK_OP_AAD_AT);
}

/* The bytes of the input that are encrypted or decrypted. */
static inline void lanelock_op_cipher_range(lanelock_op *op, size_t offset, size_t len) {
    op->cipher_at = lanelock_length(offset);
    op->cipher_len = lanelock_length(len);
    op->flags = (uint16_t)(op->flags | LANELOCK_OP_CIPHER_RANGE);
}

/* The bytes of the input that a MAC, hash or chain authenticates. */
static inline void lanelock_op_auth_range(lanelock_op *op, size_t offset, size_t len) {
    op->auth_at = lanelock_length(offset);
    op->auth_len = lanelock_length(len);
    op->flags = (uint16_t)(op->flags | LANELOCK_OP_AUTH_RANGE);
}

/* Where the payload starts in a separate output. */
static inline void lanelock_op_output_at(lanelock_op *op, size_t offset) {
    op->output_at = lanelock_length(offset);
    op->flags = (uint16_t)(op->flags | LANELOCK_OP_OUTPUT_AT);
}

/* Where the tag or digest is written, or the tag to compare is. */
static inline void lanelock_op_tag(lanelock_op *op, void *tag, size_t len) {
    op->tag = (uint8_t *)tag;
    op->tag_len = lanelock_length(len);
    op->flags = (uint16_t)(op->flags & ~(LANELOCK_OP_TAG_AT | LANELOCK_OP_TAG_CONST));
}

/* The tag to compare, for sessions that verify. */
static inline void lanelock_op_expected_tag(lanelock_op *op, const void *tag, size_t len) {
    lanelock_op_tag(op, (void *)(uintptr_t)tag, len);
    op->flags = (uint16_t)(op->flags | LANELOCK_OP_TAG_CONST);
}

/* The tag lies in the output (to compute) or in the input (to verify) from this offset. */
static inline void lanelock_op_tag_at(lanelock_op *op, size_t offset) {
    op->tag_at = lanelock_length(offset);
    op->flags = (uint16_t)(op->flags | LANELOCK_OP_TAG_AT);
}

/* Makes an operation that has run ready to run again. */
static inline void lanelock_op_rearm(lanelock_op *op) {
    op->status = LANELOCK_NOT_PROCESSED;
    op->reason = 0;
}

/* A transform of one algorithm: a cipher, MAC, hash (without a key) or AEAD. */
static inline void lanelock_transform_init(lanelock_transform *transform, uint32_t algorithm,
                                           uint32_t direction, const void *key, size_t key_len) {
    memset(transform, 0, sizeof *transform);
    transform->size = (uint32_t)sizeof *transform;
    transform->direction = direction;
    transform->algorithm = algorithm;
    transform->key = (const uint8_t *)key;
    transform->key_len = key_len;
}

/* A transform of a cipher and a MAC; `order` is LANELOCK_ENCRYPT_THEN_MAC or
 * LANELOCK_MAC_THEN_ENCRYPT. */
static inline void lanelock_transform_init_chain(lanelock_transform *transform, uint32_t order,
                                                 uint32_t direction, uint32_t cipher,
                                                 const void *key, size_t key_len, uint32_t mac,
                                                 const void *mac_key, size_t mac_key_len) {
    lanelock_transform_init(transform, cipher, direction, key, key_len);
    transform->order = order;
    transform->mac = mac;
    transform->mac_key = (const uint8_t *)mac_key;
    transform->mac_key_len = mac_key_len;
}

/* A public-key operation: what its input is, and where its output goes, follows from the session. A
 * length of 0 is for what the operation does not have. */
static inline void lanelock_key_op_init(lanelock_key_op *op, const lanelock_key_session *session,
                                        const void *input, size_t input_len, void *output,
                                        size_t output_len) {
    memset(op, 0, sizeof *op);
    op->session = session;
    op->input = (const uint8_t *)input;
    op->input_len = input_len;
    op->output = (uint8_t *)output;
    op->output_len = output_len;
}

/* The signature to check. */
static inline void lanelock_key_op_signature(lanelock_key_op *op, const void *signature,
                                             size_t len) {
    op->signature = (const uint8_t *)signature;
    op->signature_len = len;
}

/* Where a generated public key, or an encapsulated secret, goes. */
static inline void lanelock_key_op_second(lanelock_key_op *op, void *second, size_t len) {
    op->second = (uint8_t *)second;
    op->second_len = len;
}

/* Makes an operation that has run ready to run again. */
static inline void lanelock_key_op_rearm(lanelock_key_op *op) {
    op->status = LANELOCK_NOT_PROCESSED;
    op->reason = 0;
    op->written = 0;
    op->second_written = 0;
}

/* A transform of a key; `key` is NULL and `kind` is set afterwards to generate keys. */
static inline void lanelock_key_transform_init(lanelock_key_transform *transform,
                                               uint32_t operation, const lanelock_key *key,
                                               uint32_t scheme, uint32_t hash) {
    memset(transform, 0, sizeof *transform);
    transform->size = (uint32_t)sizeof *transform;
    transform->operation = operation;
    transform->key = key;
    transform->scheme = scheme;
    transform->hash = hash;
    transform->salt_len = LANELOCK_SALT_DIGEST;
}

#ifdef __cplusplus
}
#endif
