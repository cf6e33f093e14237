/*
 * Reads a `prepare` line into a shape. Every refusal names the field, its
 * value and what would be accepted instead.
 */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_POOL (1u << 20)
#define MAX_AREA (1ull << 30)
#define MAX_MESSAGE (1u << 20)

/* A field as text, until all of them are known. */
struct fields {
    const char *algorithm, *operation, *pattern, *burst, *sessions, *pool, *stride;
    const char *iv, *tag, *aad, *key, *mac_key, *layout, *route, *tier, *trial;
};

static const struct {
    const char *name;
    size_t offset;
} names[] = {
#define FIELD(name) { #name, offsetof(struct fields, name) }
    FIELD(algorithm), FIELD(operation), FIELD(pattern), FIELD(burst), FIELD(sessions),
    FIELD(pool), FIELD(stride), FIELD(iv), FIELD(tag), FIELD(aad), FIELD(key),
    FIELD(mac_key), FIELD(layout), FIELD(route), FIELD(tier), FIELD(trial),
#undef FIELD
};

static bool split(struct fields *fields, char *line, struct reason *why)
{
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        char *value = strchr(word, '=');
        if (!value)
            return refuse(why, "%.60s: not a field; write name=value", word);
        *value++ = '\0';
        size_t i = 0;
        while (i < sizeof names / sizeof *names && strcmp(names[i].name, word) != 0)
            i++;
        if (i == sizeof names / sizeof *names)
            return refuse(why, "%.60s=%.60s: unknown field; see README.md for the list", word, value);
        *(const char **)((char *)fields + names[i].offset) = value;
    }
    return true;
}

static bool number(const char *name, const char *text, uint32_t usual, uint32_t least,
                   uint32_t most, uint32_t *out, struct reason *why)
{
    if (!text) {
        *out = usual;
        return true;
    }
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < least || value > most)
        return refuse(why, "%s=%.60s: not accepted; use %u to %u", name, text, least, most);
    *out = (uint32_t)value;
    return true;
}

static bool length(const char *name, const char *text, const struct spec *spec,
                   const struct range *range, uint32_t *out, struct reason *why)
{
    struct reason ignored;
    if (number(name, text, range->usual, range->least, range->most, out, &ignored))
        return true;
    if (range->least == range->most)
        return refuse(why, "%s=%.60s: %s takes %u bytes", name, text, spec->name, range->least);
    return refuse(why, "%s=%.60s: %s takes %u to %u bytes", name, text, spec->name, range->least,
                  range->most);
}

/* One of two words; the first stands for false. */
static bool choice(const char *name, const char *text, const char *no, const char *yes, bool *out,
                   struct reason *why)
{
    *out = strcmp(text, yes) == 0;
    if (*out || strcmp(text, no) == 0)
        return true;
    return refuse(why, "%s=%.60s: use %s or %s", name, text, no, yes);
}

static bool operation(struct shape *shape, const char *text, struct reason *why)
{
    switch (shape->spec->kind) {
    case HASH:
        shape->reverse = false;
        return strcmp(text, "compute") == 0 || refuse(why, "operation=%.60s: use compute", text);
    case MAC:
        return choice("operation", text, "compute", "verify", &shape->reverse, why);
    default:
        return choice("operation", text, "encrypt", "decrypt", &shape->reverse, why);
    }
}

static bool pattern(struct shape *shape, const char *text, struct reason *why)
{
    const struct spec *spec = shape->spec;
    shape->size_count = 0;
    shape->largest = 0;
    for (;;) {
        char *end = NULL;
        errno = 0;
        unsigned long size = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || errno != 0 || size < spec->least || size > MAX_MESSAGE ||
            size % spec->unit != 0)
            return refuse(why, "pattern=%.60s: %s takes sizes from %u to %u in steps of %u", text,
                          spec->name, spec->least, MAX_MESSAGE, spec->unit);
        if (shape->size_count == MAX_SIZES)
            return refuse(why, "pattern: more than %d sizes; shorten the pattern", MAX_SIZES);
        shape->sizes[shape->size_count++] = (uint32_t)size;
        if (size > shape->largest)
            shape->largest = (uint32_t)size;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return refuse(why, "pattern=%.60s: separate sizes by commas", text);
        text = end + 1;
    }
}

static bool geometry(struct shape *shape, const struct fields *fields, struct reason *why)
{
    uint32_t aligned = (shape->largest + 63) / 64 * 64;
    if (!number("burst", fields->burst, 32, 1, 4096, &shape->burst, why) ||
        !number("sessions", fields->sessions, 1, 1, MAX_POOL, &shape->sessions, why) ||
        !number("pool", fields->pool, shape->burst, 1, MAX_POOL, &shape->pool, why) ||
        !number("stride", fields->stride, aligned, shape->largest, 2 * MAX_MESSAGE, &shape->stride,
                why))
        return false;
    if (shape->pool % shape->burst != 0)
        return refuse(why, "pool=%u: not a multiple of burst=%u; choose a whole number of bursts",
                      shape->pool, shape->burst);
    if ((uint64_t)shape->pool * shape->stride > MAX_AREA)
        return refuse(why, "pool=%u: with stride=%u it exceeds %llu MiB; lower pool or stride",
                      shape->pool, shape->stride, MAX_AREA >> 20);
    return true;
}

/* Rules that join two fields or hold for one algorithm only. */
static bool exceptions(const struct shape *shape, struct reason *why)
{
    const char *name = shape->spec->name;
    if (shape->aad != 0 && shape->spec->kind != AEAD)
        return refuse(why, "aad=%u: %s has no AAD; use aad=0", shape->aad, name);
    if (strcmp(name, "chacha20") == 0 && shape->iv != 12 && shape->iv != 16)
        return refuse(why, "iv=%u: chacha20 takes 16 (counter and nonce) or 12 (nonce)", shape->iv);
    if (strstr(name, "-ccm") && shape->tag % 2 != 0)
        return refuse(why, "tag=%u: %s takes even tag lengths only", shape->tag, name);
    if (strstr(name, "-ccm") && shape->iv == 13 && shape->largest > 65535)
        return refuse(why, "iv=13: %s then ends at 65535 bytes; use iv=12 for longer messages", name);
    bool keeps_input = shape->spec->kind == AEAD || shape->spec->kind == CHAIN;
    if (shape->reverse && keeps_input && !shape->separate)
        return refuse(why, "layout=in-place: decrypting %s would destroy its own input; "
                           "use layout=separate", name);
    return true;
}

bool shape_parse(struct shape *shape, char *line, struct reason *why)
{
    static const struct spec none;
    struct fields fields = { .layout = "in-place", .route = "", .tier = "" };
    shape->spec = &none;
    if (!split(&fields, line, why))
        return false;
    if (!fields.algorithm || !fields.operation || !fields.pattern)
        return refuse(why, "%s: missing; prepare needs algorithm, operation and pattern",
                      !fields.algorithm ? "algorithm" : !fields.operation ? "operation" : "pattern");
    const struct spec *spec = shape->spec = spec_find(fields.algorithm);
    if (!spec)
        return refuse(why, "no %.60s here; specs.h has the list", fields.algorithm);
    if (strlen(fields.route) >= sizeof shape->route)
        return refuse(why, "route=%.60s: no such route; leave it out to measure all", fields.route);
    strcpy(shape->route, fields.route);
    if (strlen(fields.tier) >= sizeof shape->tier)
        return refuse(why, "tier=%.60s: no such tier; leave it out for the widest", fields.tier);
    strcpy(shape->tier, fields.tier);

    return operation(shape, fields.operation, why) && pattern(shape, fields.pattern, why) &&
           geometry(shape, &fields, why) &&
           choice("layout", fields.layout, "in-place", "separate", &shape->separate, why) &&
           length("key", fields.key, spec, &spec->key, &shape->key, why) &&
           length("mac_key", fields.mac_key, spec, &spec->mac_key, &shape->mac_key, why) &&
           length("iv", fields.iv, spec, &spec->iv, &shape->iv, why) &&
           length("tag", fields.tag, spec, &spec->tag, &shape->tag, why) &&
           number("aad", fields.aad, 0, 0, 4096, &shape->aad, why) &&
           number("trial", fields.trial, 1000, 1, 1000000, &shape->trial, why) && exceptions(shape, why);
}
