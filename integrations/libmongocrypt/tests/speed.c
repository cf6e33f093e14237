/* Documents of 1,500 deterministic fields decrypted per second, in turns: libmongocrypt's own
 * cryptography, the hooks, the hooks and the document. Prints a line for each turn.
 * usage: speed ROUNDS SECONDS THREADS... */
#include "crypt.h"
#include <pthread.h>
#include <time.h>

enum { FIELDS = 1500, MAX_THREADS = 64 };

struct contestant {
    const char *name;
    bool with_lanelock, with_document;
    mongocrypt_t *crypt;
};

static struct contestant contestants[] = {
    {"native", false, false, NULL}, {"hooks", true, false, NULL}, {"document", true, true, NULL}};

static bson_t *data_key, encrypted, plain;
static double seconds;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *decrypt_for_a_while(void *by) {
    const struct contestant *contestant = by;
    size_t answered, *count = malloc(sizeof *count);
    double end = now() + seconds;

    for (*count = 0; now() < end; ++*count) {
        struct result result = decrypt(contestant->crypt, data_key, &encrypted,
                                       contestant->with_document ? &answered : NULL);
        CHECK(bson_equal(succeeded(result), &plain));
        bson_destroy(result.bson);
    }
    return count;
}

static void turn(struct contestant *contestant, int threads) {
    pthread_t thread[MAX_THREADS];
    double start = now();
    size_t count = 0;
    int i;

    for (i = 0; i < threads; i++) {
        CHECK(pthread_create(&thread[i], NULL, decrypt_for_a_while, contestant) == 0);
    }
    for (i = 0; i < threads; i++) {
        void *counted;
        CHECK(pthread_join(thread[i], &counted) == 0);
        count += *(size_t *)counted;
        free(counted);
    }
    printf("%s %d %.1f\n", contestant->name, threads, (double)count / (now() - start));
    fflush(stdout);
}

int main(int argc, char **argv) {
    int rounds = argc > 3 ? atoi(argv[1]) : 0, round, i;
    size_t n;

    CHECK(rounds > 0);
    seconds = atof(argv[2]);
    for (n = 0; n < 3; n++) {
        contestants[n].crypt = crypt_new(contestants[n].with_lanelock);
    }
    data_key = data_key_new(contestants[0].crypt);
    bson_init(&plain);
    bson_init(&encrypted);
    for (i = 0; i < FIELDS; i++) {
        char name[20], text[20];
        bson_t *value;
        bson_iter_t at;
        snprintf(name, sizeof name, "key%04d", i);
        snprintf(text, sizeof text, "value %04d", i);
        value = encrypt(contestants[0].crypt, data_key, DETERMINISTIC, text);
        CHECK(bson_iter_init_find(&at, value, "v"));
        bson_append_utf8(&plain, name, -1, text, -1);
        bson_append_iter(&encrypted, name, -1, &at);
        bson_destroy(value);
    }
    for (i = 3; i < argc; i++) {
        int threads = atoi(argv[i]);
        CHECK(threads > 0 && threads <= MAX_THREADS);
        for (round = 0; round < rounds; round++) {
            for (n = 0; n < 3; n++) {
                turn(&contestants[n], threads);
            }
        }
    }
    return 0;
}
