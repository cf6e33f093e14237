/* Uses libssl, which its host does not; says what differs from libssl's own behaviour. */
#include <malloc.h>
#include <openssl/ssl.h>
#include <stdio.h>

static int informed;

static void inform(const SSL *connection, int type, int value) {
    (void)connection, (void)type, (void)value;
    informed++;
}

static int check(int holds, const char *what) {
    if (!holds)
        printf("not so: %s\n", what);
    return holds;
}

static void open_and_close(SSL_CTX *context, int count) {
    for (int i = 0; i < count; i++)
        SSL_free(SSL_new(context));
}

int run(void) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_info_callback(context, inform);
    int fine = check(SSL_CTX_get_info_callback(context) == inform, "the context's callback is kept");
    SSL *connection = SSL_new(context);
    fine &= check(SSL_get_info_callback(connection) == NULL, "the connection has none of its own");
    SSL_set_info_callback(connection, inform);
    fine &= check(SSL_get_info_callback(connection) == inform, "the connection's callback is kept");
    SSL_set_info_callback(connection, NULL);
    fine &= check(SSL_up_ref(connection) == 1, "a reference is added");
    SSL_free(connection);
    SSL_set_bio(connection, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(connection);
    SSL_do_handshake(connection);
    fine &= check(informed > 0, "the callback is called");
    SSL *other = SSL_dup(connection);
    fine &= check(other == connection, "a duplicate of a connection in use is another reference");
    SSL_free(other);
    SSL_free(connection);
    SSL_free(NULL);

    open_and_close(context, 100);
    size_t before = mallinfo2().uordblks;
    open_and_close(context, 2000);
    size_t after = mallinfo2().uordblks;
    fine &= check(after <= before + 2000, "closed connections leave nothing");
    SSL_CTX_free(context);
    return !fine;
}
