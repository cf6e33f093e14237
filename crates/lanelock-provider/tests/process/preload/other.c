/* Stands for another TLS library with OpenSSL's names: LibreSSL, BoringSSL, a bundled OpenSSL 1.1. */
#include <stdlib.h>

struct ssl_st {
    int words[1000];
};

int other_freed;

struct ssl_st *SSL_new(void *context) {
    (void)context;
    struct ssl_st *connection = malloc(sizeof *connection);
    for (int i = 0; i < 1000; i++)
        connection->words[i] = 1;
    return connection;
}

void SSL_free(struct ssl_st *connection) {
    other_freed++;
    free(connection);
}

int SSL_up_ref(struct ssl_st *connection) {
    (void)connection;
    return 7;
}
