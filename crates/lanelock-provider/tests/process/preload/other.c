/* Stands for another TLS library with OpenSSL's names: LibreSSL, BoringSSL, a bundled OpenSSL. */
#include <stdlib.h>

struct ssl_st {
    int words[1000];
    const void *method;
};

int other_freed;

static const int method;

struct ssl_st *SSL_new(void *context) {
    (void)context;
    struct ssl_st *connection = malloc(sizeof *connection);
    for (int i = 0; i < 1000; i++)
        connection->words[i] = 1;
    connection->method = &method;
    return connection;
}

void SSL_free(struct ssl_st *connection) {
    if (connection->method == &method)
        other_freed++;
    free(connection);
}

int SSL_up_ref(struct ssl_st *connection) {
    (void)connection;
    return 7;
}

/* What a copy of OpenSSL's libssl has besides. */
const void *SSL_get_ssl_method(const struct ssl_st *connection) {
    return connection->words[0] == 1 ? connection->method : NULL;
}

const void *SSL_CTX_get_ssl_method(const void *context) {
    (void)context;
    return NULL;
}

int SSL_waiting_for_async(const struct ssl_st *connection) {
    (void)connection;
    return 0;
}

#define NEVER(name)                                                                                \
    void name(void) {                                                                              \
        abort();                                                                                   \
    }
NEVER(SSL_dup)
NEVER(SSL_clear)
NEVER(SSL_get_SSL_CTX)
NEVER(SSL_set_info_callback)
NEVER(SSL_get_info_callback)
NEVER(SSL_set_msg_callback)
NEVER(SSL_get_all_async_fds)
NEVER(SSL_do_handshake)
NEVER(SSL_set0_rbio)
NEVER(SSL_set0_wbio)
NEVER(SSL_CTX_set_info_callback)
NEVER(SSL_CTX_get_info_callback)
NEVER(SSL_accept)
NEVER(SSL_read)
NEVER(SSL_read_ex)
NEVER(SSL_peek)
NEVER(SSL_peek_ex)
NEVER(SSL_write)
NEVER(SSL_write_ex)
NEVER(SSL_get_error)
NEVER(SSL_want)
NEVER(SSL_state_string)
NEVER(SSL_in_init)
NEVER(SSL_is_server)
NEVER(SSL_ctrl)
NEVER(SSL_get_ex_data)
NEVER(SSL_set_ex_data)
NEVER(SSL_get_rbio)
NEVER(SSL_get_wbio)
NEVER(SSL_get_rfd)
NEVER(SSL_get_early_data_status)
