#include "fields.h"
#include "bson.h"
#include <stdlib.h>

/* Kept between documents, in bytes: enough for one of 200 KB. */
enum { KEPT = 1 << 20 };

/* Longer documents are not looked at: offsets have 32 bits. */
static const size_t MAX_DOCUMENT = 512 << 20;

/* The first byte of an encrypted value. */
enum subtype {
    DETERMINISTIC = 1,
    RANDOM = 2,
    UNINDEXED = 6,
    EQUALITY_V2 = 14,
    RANGE_V2 = 15,
    UNINDEXED_V2 = 16
};

enum {
    /* Subtype, key's identifier, BSON type. */
    HEADER_LEN = 18,
    /* A tag and encrypted counts, for each edge of an indexed value. */
    METADATA_LEN = 96
};

static const struct scheme CBC_SHA_512 = {LANELOCK_HMAC_SHA512, LANELOCK_AES_CBC, 16};
static const struct scheme CBC_SHA_256 = {LANELOCK_HMAC_SHA256, LANELOCK_AES_CBC, 16};
static const struct scheme CTR_SHA_256 = {LANELOCK_HMAC_SHA256, LANELOCK_AES_CTR, 1};
/* What the server encrypts is not authenticated. */
static const struct scheme CTR = {0, LANELOCK_AES_CTR, 1};

/* The group of a key; GROUPS if there is no room for one more. */
static uint16_t group_of(struct fields *fields, const uint8_t *id, const struct scheme *scheme) {
    uint16_t i;

    for (i = 0; i < fields->groups; i++) {
        const struct group *group = &fields->group[i];
        if (group->scheme == scheme && memcmp(group->id, id, KEY_ID_LEN) == 0) {
            return i;
        }
    }
    if (fields->groups < GROUPS) {
        struct group *group = &fields->group[fields->groups++];
        memcpy(group->id, id, KEY_ID_LEN);
        group->scheme = scheme;
        group->has_mac_key = group->has_key = false;
    }
    return i;
}

static uint32_t append(struct fields *fields, const void *bytes, uint32_t len) {
    uint32_t at = fields->bytes_len;

    memcpy(fields->bytes + at, bytes, len);
    fields->bytes_len += len;
    return at;
}

static struct field *field_new(struct fields *fields) {
    struct field *field = &fields->field[fields->count++];

    memset(field, 0, sizeof *field);
    field->plain_at = fields->plain_len;
    return field;
}

/* A value that one key has encrypted: header, IV, ciphertext, tag. */
static void add_value(struct fields *fields, const struct scheme *scheme, const uint8_t *value,
                      uint32_t length) {
    /* The number of bits in the header, as 64 bits in big-endian order. */
    static const uint8_t header_bits[8] = {0, 0, 0, 0, 0, 0, 0, 8 * HEADER_LEN};
    uint32_t body = length - FIELD_TAG_LEN;
    struct field *field;
    uint16_t group;

    if (length <= HEADER_LEN + FIELD_IV_LEN + FIELD_TAG_LEN) {
        return;
    }
    group = group_of(fields, value + 1, scheme);
    if (group == GROUPS) {
        return;
    }
    field = field_new(fields);
    field->group = group;
    field->mac_at = append(fields, value, body);
    if (scheme == &CBC_SHA_512) {
        append(fields, header_bits, sizeof header_bits);
    }
    field->mac_len = fields->bytes_len - field->mac_at;
    field->tag_at = append(fields, value + body, FIELD_TAG_LEN);
    field->iv_at = field->mac_at + HEADER_LEN;
    field->text_len = body - HEADER_LEN - FIELD_IV_LEN;
    fields->plain_len += field->text_len;
}

/* A value that can be searched for: header, what the server has encrypted, metadata. */
static void add_indexed(struct fields *fields, const uint8_t *value, uint32_t length) {
    uint32_t start = HEADER_LEN, edges = 1, len;
    struct field *field;
    uint16_t group;

    if (value[0] == RANGE_V2 && length > HEADER_LEN) {
        edges = value[start++];
    }
    if (length <= start + edges * METADATA_LEN) {
        return;
    }
    len = length - start - edges * METADATA_LEN;
    /* Inside: a key's identifier, an IV, a ciphertext, a tag. */
    if (len <= FIELD_IV_LEN + KEY_ID_LEN + FIELD_IV_LEN + FIELD_TAG_LEN) {
        return;
    }
    group = group_of(fields, value + 1, &CTR);
    if (group == GROUPS) {
        return;
    }
    field = field_new(fields);
    field->group = GROUPS; /* until it is opened */
    field->server_group = group;
    field->server_at = append(fields, value + start, len);
    field->server_len = len;
    /* Room for what is inside, and for its plaintext. */
    field->mac_at = fields->bytes_len;
    fields->bytes_len += len - FIELD_IV_LEN;
    fields->plain_len += len;
}

void fields_open(struct fields *fields, struct field *field) {
    uint32_t len = field->server_len - FIELD_IV_LEN;

    field->done |= FIELD_OPENED;
    field->group = group_of(fields, fields->bytes + field->mac_at, &CBC_SHA_256);
    field->mac_len = len - FIELD_TAG_LEN;
    field->tag_at = field->mac_at + field->mac_len;
    field->iv_at = field->mac_at + KEY_ID_LEN;
    field->text_len = field->mac_len - KEY_ID_LEN - FIELD_IV_LEN;
}

static bool add(void *context, const uint8_t *value, uint32_t length) {
    struct fields *fields = context;

    if (length <= HEADER_LEN) {
        return true;
    }
    switch (value[0]) {
    case DETERMINISTIC:
    case RANDOM:
        add_value(fields, &CBC_SHA_512, value, length);
        break;
    case UNINDEXED:
        add_value(fields, &CTR_SHA_256, value, length);
        break;
    case UNINDEXED_V2:
        add_value(fields, &CBC_SHA_256, value, length);
        break;
    case EQUALITY_V2:
    case RANGE_V2:
        add_indexed(fields, value, length);
        break;
    default:
        break;
    }
    return true;
}

/* Room for the fields of a document, by its length: a field takes more than 66 bytes of it. */
static bool fields_reserve(struct fields *fields, size_t length) {
    size_t most = length / 66 + 1;
    size_t bytes = 2 * length + 8 * most, tags = most * MAC_ROOM, field = most * sizeof(struct field);
    size_t room = bytes + tags + field + length;
    uint8_t *memory;

    if (fields->room < room) {
        fields_free(fields);
        memory = malloc(room);
        if (memory == NULL) {
            return false;
        }
        fields->room = room;
        /* The first part is the one that needs to be aligned. */
        fields->field = (struct field *)(void *)memory;
    }
    memory = (uint8_t *)(void *)fields->field;
    fields->tags = memory + field;
    fields->bytes = fields->tags + tags;
    fields->plain = fields->bytes + bytes;
    return true;
}

void fields_find(struct fields *fields, const uint8_t *document, size_t length) {
    if (length <= MAX_DOCUMENT && fields_reserve(fields, length)) {
        bson_walk(document, length, add, fields);
    }
}

void fields_clear(struct fields *fields) {
    if (fields->count > 0) {
        explicit_bzero(fields->plain, fields->plain_len);
        explicit_bzero(fields->bytes, fields->bytes_len);
        explicit_bzero(fields->tags, fields->count * MAC_ROOM);
        explicit_bzero(fields->group, fields->groups * sizeof *fields->group);
    }
    fields->count = 0;
    fields->groups = 0;
    fields->bytes_len = 0;
    fields->plain_len = 0;
    if (fields->room > KEPT) {
        free(fields->field);
        fields->field = NULL;
        fields->room = 0;
    }
}

void fields_free(struct fields *fields) {
    fields_clear(fields);
    free(fields->field);
    fields->field = NULL;
    fields->room = 0;
}
