/*
 * The line protocol and the measuring loop: one request per line on stdin,
 * one answer per line on stdout. Nothing a request says ends the process
 * except `quit`.
 */
#include "bench.h"
#include "pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ull
#define LOOK_NS 20000ull   /* between two looks at the clock: its cost stays near 0.1 % */
#define TRIALS 5

struct bench {
    const struct peer *peer;
    struct shape shape;
    struct pool pool;
    struct engine *engine; /* runs the operation; NULL when nothing is prepared */
    struct engine *sealer; /* makes the input of decrypt and verify, or NULL */
    const struct route *route;
    size_t cursor; /* first message of the next burst */
};

bool refuse(struct reason *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    for (char *c = why->text; *c; c++)
        if (*c == '"' || *c == '\n')
            *c = '\'';
    return false;
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static bool next_burst(struct bench *bench, struct reason *why)
{
    const struct shape *shape = &bench->shape;
    if (!bench->route->burst(bench->engine, bench->pool.messages + bench->cursor, shape->burst, why))
        return false;
    bench->cursor += shape->burst;
    if (bench->cursor == shape->pool)
        bench->cursor = 0;
    return true;
}

/* Whole bursts until the time has passed; the distance between looks adapts itself. */
static bool run_for(struct bench *bench, uint64_t span, uint64_t *bursts, uint64_t *spent,
                    struct reason *why)
{
    uint64_t per_look = 1;
    *bursts = *spent = 0;
    uint64_t start = now_ns();
    do {
        for (uint64_t i = 0; i < per_look; i++)
            if (!next_burst(bench, why))
                return false;
        *bursts += per_look;
        *spent = now_ns() - start;
        per_look = *spent ? *bursts * LOOK_NS / *spent + 1 : 2 * per_look;
    } while (*spent < span);
    return true;
}

/* The input of decrypt and verify: sealed in place, tags beside it. */
static bool seal(struct bench *bench, struct reason *why)
{
    if (!bench->sealer)
        return true;
    uint32_t burst = bench->shape.burst;
    struct message *forward = calloc(burst, sizeof *forward);
    burst_fn *run = bench->peer->routes(bench->sealer)->burst;
    bool done = forward || refuse(why, "burst=%u: out of memory; lower burst", burst);
    for (size_t b = 0; done && b < bench->shape.pool; b += burst) {
        for (uint32_t i = 0; i < burst; i++) {
            forward[i] = bench->pool.messages[b + i];
            forward[i].out = bench->pool.data + (b + i) * bench->shape.stride;
        }
        done = run(bench->sealer, forward, burst, why);
    }
    free(forward);
    return done;
}

static void drop(struct bench *bench)
{
    if (bench->engine)
        bench->peer->close(bench->engine);
    if (bench->sealer)
        bench->peer->close(bench->sealer);
    bench->engine = bench->sealer = NULL;
    pool_free(&bench->pool);
}

/*
 * Takes the route asked for, or tries all in turn on the very pool that will
 * be measured and keeps the fastest: which one wins depends on CPU, library
 * version, sizes and burst.
 */
static bool choose_route(struct bench *bench, struct reason *why)
{
    const struct route *routes = bench->peer->routes(bench->engine);
    const char *wanted = bench->shape.route;
    const struct route *best = NULL;
    double least = 0;
    int trials = routes[1].name && !*wanted ? TRIALS : 1;
    for (int trial = 0; trial < trials; trial++) {
        for (const struct route *route = routes; route->name; route++) {
            if (*wanted && strcmp(wanted, route->name) != 0)
                continue;
            uint64_t bursts, spent;
            bench->route = route;
            if (!run_for(bench, trials > 1 ? bench->shape.trial * 1000ull : 0, &bursts, &spent, why))
                return false;
            double cost = (double)spent / (double)bursts;
            if (!best || cost < least) {
                best = route;
                least = cost;
            }
        }
    }
    if (!best)
        return refuse(why, "route=%s: no such route for %s; leave it out to measure all", wanted,
                      bench->shape.spec->name);
    bench->route = best;
    bench->cursor = 0;
    return true;
}

static enum verdict prepare(struct bench *bench, char *fields, struct reason *why)
{
    drop(bench);
    struct shape *shape = &bench->shape;
    if (!shape_parse(shape, fields, why))
        return shape->spec ? FAILED : UNSUPPORTED;
    if (*shape->tier && !bench->peer->has_tiers) {
        refuse(why, "tier=%s: %s has no such choice; leave it out", shape->tier, bench->peer->name);
        return FAILED;
    }
    if (shape->spec->kind == HASH)
        shape->sessions = 1; /* nothing tells the sessions of a hash apart */
    if (!pool_build(&bench->pool, shape, why))
        return FAILED;

    enum verdict verdict = READY;
    bool sealed = shape->reverse && shape->spec->kind != CIPHER;
    if (sealed)
        verdict = bench->peer->open(shape, false, &bench->pool.keys, &bench->sealer, why);
    if (verdict == READY)
        verdict = bench->peer->open(shape, shape->reverse, &bench->pool.keys, &bench->engine, why);
    bench->cursor = 0;
    if (verdict == READY && !(seal(bench, why) && choose_route(bench, why)))
        verdict = FAILED;
    if (verdict != READY)
        drop(bench);
    return verdict;
}

static void answer_prepare(struct bench *bench, char *fields)
{
    struct reason why = { "" };
    switch (prepare(bench, fields, &why)) {
    case READY:
        printf("ready route=%s routes=", bench->route->name);
        for (const struct route *r = bench->peer->routes(bench->engine); r->name; r++)
            printf("%s%s", r->name, r[1].name ? "," : "\n");
        break;
    case UNSUPPORTED:
        printf("unsupported reason=\"%s\"\n", why.text);
        break;
    case FAILED:
        printf("error reason=\"%s\"\n", why.text);
        break;
    }
}

static bool run(struct bench *bench, const char *fields, struct reason *why)
{
    double seconds = 0;
    int end = 0;
    if (sscanf(fields, " seconds=%lf %n", &seconds, &end) != 1 || fields[end] != '\0' ||
        !(seconds > 0 && seconds <= 3600))
        return refuse(why, "run %.60s: write run seconds=S with 0 < S <= 3600", fields);
    if (!bench->engine)
        return refuse(why, "run: nothing is prepared; send prepare first");
    uint64_t bursts, spent;
    if (!run_for(bench, (uint64_t)(seconds * (double)NS_PER_SECOND), &bursts, &spent, why)) {
        drop(bench); /* a context that failed once is not measured again */
        return false;
    }
    printf("ran ops=%llu ns=%llu\n", (unsigned long long)(bursts * bench->shape.burst),
           (unsigned long long)spent);
    return true;
}

static bool digest(struct bench *bench, struct reason *why)
{
    if (!bench->engine)
        return refuse(why, "digest: nothing is prepared; send prepare first");
    pool_fill(&bench->pool);
    if (!seal(bench, why))
        return false;
    bench->cursor = 0;
    do {
        if (!next_burst(bench, why))
            return false;
    } while (bench->cursor != 0);
    printf("digest fnv1a=%016llx\n", (unsigned long long)pool_digest(&bench->pool));
    return true;
}

/* Returns false on `quit`. */
static bool answer(struct bench *bench, char *line)
{
    struct reason why = { "" };
    char *fields = line + strcspn(line, " \t");
    if (*fields)
        *fields++ = '\0';
    bool done = true;
    if (strcmp(line, "quit") == 0)
        return false;
    if (strcmp(line, "hello") == 0)
        printf("peer name=%s library=\"%s\"\n", bench->peer->name, bench->peer->library());
    else if (strcmp(line, "prepare") == 0)
        answer_prepare(bench, fields);
    else if (strcmp(line, "run") == 0)
        done = run(bench, fields, &why);
    else if (strcmp(line, "digest") == 0)
        done = digest(bench, &why);
    else
        done = refuse(&why, "%.60s: unknown request; use hello, prepare, run, digest or quit", line);
    if (!done)
        printf("error reason=\"%s\"\n", why.text);
    return true;
}

int bench_main(const struct peer *peer)
{
    static struct bench bench;
    bench.peer = peer;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (!answer(&bench, line) || fflush(stdout) != 0)
            break;
    }
    drop(&bench);
    free(line);
    return 0;
}
