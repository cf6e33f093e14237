/* Connections whose both ends are in this process, and are driven step by step: what a test of them
 * begins with. It is put in front of the test's own text. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/async.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Connections of a test, at most. */
#define MOST 96

#define check(good) \
    do { \
        if (!(good)) \
            give_up(#good, __LINE__); \
    } while (0)

static void give_up(const char *what, int line) {
    fprintf(stderr, "line %d: not so: %s (%s)\n", line, what, strerror(errno));
    ERR_print_errors_fp(stderr);
    exit(1);
}

struct pair {
    SSL *server, *client;
    int server_fd, client_fd;
};

static struct pair pairs[MOST];
static SSL_CTX *servers, *clients;
static EVP_PKEY *key;
static int epoll_fd, bell;

/* How often jobs have paused, of connections that are asked. */
static int pauses;

static int on_pause(SSL *ssl, void *argument) {
    (void)ssl, (void)argument;
    pauses++;
    return 1;
}

/* ------------------------------------------------------------------------------------- the loop */

/* Two events are ready, so that a connection has company from the start. */
static void wait_with_company(void) {
    struct epoll_event ready[2], event = {.events = EPOLLIN};
    int other = eventfd(1, 0);
    uint64_t count = 1;
    check(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, other, &event) == 0);
    check(write(bell, &count, sizeof count) == sizeof count);
    check(epoll_wait(epoll_fd, ready, 2, 50) == 2);
    check(read(bell, &count, sizeof count) == sizeof count);
    close(other);
}

/* A turn of a loop that has something else to do. */
static void wait_busily(void) {
    struct epoll_event ready;
    uint64_t count = 1;
    check(write(bell, &count, sizeof count) == sizeof count);
    check(epoll_wait(epoll_fd, &ready, 1, 50) == 1);
    check(read(bell, &count, sizeof count) == sizeof count);
}

/* A turn of a loop that has nothing to do. */
static void wait_idly(void) {
    struct epoll_event ready;
    check(epoll_wait(epoll_fd, &ready, 1, 1) == 0);
}

/* --------------------------------------------------------------------------------- the contexts */

static void make_contexts(int version) {
    servers = SSL_CTX_new(TLS_server_method());
    clients = SSL_CTX_new(TLS_client_method());
    X509 *certificate = X509_new();
    FILE *file = fopen(getenv("KEY"), "r");
    key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    check(X509_sign(certificate, key, EVP_sha256()) > 0);
    SSL_CTX_set_max_proto_version(servers, version);
    SSL_CTX_set_num_tickets(servers, 0);
    SSL_CTX_set_session_cache_mode(servers, SSL_SESS_CACHE_OFF);
    check(SSL_CTX_set1_groups_list(clients, "X25519") == 1);
    check(SSL_CTX_use_certificate(servers, certificate) == 1);
    check(SSL_CTX_use_PrivateKey(servers, key) == 1);
    X509_free(certificate);
    signal(SIGPIPE, SIG_IGN);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    bell = eventfd(0, EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN};
    check(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, bell, &event) == 0);
}

/* ------------------------------------------------------------------------------ the connections */

static void connect_sockets(struct pair *pair) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&at, len) == 0 && listen(listener, 1) == 0);
    getsockname(listener, (struct sockaddr *)&at, &len);
    pair->client_fd = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(pair->client_fd, (struct sockaddr *)&at, len) == 0);
    pair->server_fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    check(pair->server_fd >= 0 && fcntl(pair->client_fd, F_SETFL, O_NONBLOCK) == 0);
    close(listener);
}

/* Waits until the client has something to read, or for no longer than a moment. */
static int readable(int fd, int moment) {
    /* Not the module's poll: it must not take this for a turn of the loop. */
    struct pollfd one = {.fd = fd, .events = POLLIN};
    static int (*real)(struct pollfd *, nfds_t, int);
    if (real == NULL)
        real = (int (*)(struct pollfd *, nfds_t, int))dlsym(dlopen("libc.so.6", RTLD_LAZY), "poll");
    return real(&one, 1, moment) == 1;
}

/* The client sends its first message, and it has arrived. */
static void greet(struct pair *pair) {
    check(SSL_connect(pair->client) == -1);
    check(readable(pair->server_fd, 10000));
}

static void make_ends(struct pair *pair) {
    pair->server = SSL_new(servers);
    pair->client = SSL_new(clients);
    SSL_set_accept_state(pair->server);
    check(SSL_set_fd(pair->server, pair->server_fd) == 1);
    check(SSL_set_fd(pair->client, pair->client_fd) == 1);
}

/* So many connections, whose clients have sent their first messages. */
static void make_pairs(int count) {
    for (int i = 0; i < count; i++) {
        connect_sockets(&pairs[i]);
        make_ends(&pairs[i]);
        greet(&pairs[i]);
    }
}

static int takes_part(const SSL *ssl) {
    return (SSL_get_mode((SSL *)ssl) & SSL_MODE_ASYNC) != 0;
}

/* The server's end goes as far as it can, and waits for its client, as the program sees it. */
static void drive(struct pair *pair) {
    ERR_clear_error();
    check(SSL_get_error(pair->server, SSL_accept(pair->server)) == SSL_ERROR_WANT_READ);
}

static void drive_all(int from, int to) {
    for (int i = from; i < to; i++)
        drive(&pairs[i]);
}

/* Whether the server's messages have left. On the loopback they are there as soon as they were sent. */
static int is_answered(const struct pair *pair) {
    return readable(pair->client_fd, 0);
}

static int answered(int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++)
        count += is_answered(&pairs[i]);
    return count;
}

static int handshake_steps(SSL *ssl) {
    int result = SSL_do_handshake(ssl), error = SSL_get_error(ssl, result);
    check(result == 1 || error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE);
    return result == 1;
}

/* Both ends come to the end of their handshake, and talk. */
static void finish(struct pair *pair) {
    char said[5];
    int done = 0;
    for (int turns = 0; !done; turns++) {
        check(turns < 1000);
        int client = handshake_steps(pair->client);
        done = handshake_steps(pair->server) && client;
        if (!done)
            wait_idly();
    }
    check(!takes_part(pair->server));
    check(SSL_write(pair->server, "hello", 5) == 5);
    while (SSL_read(pair->client, said, 5) != 5)
        check(readable(pair->client_fd, 10000));
    check(memcmp(said, "hello", 5) == 0);
}

static void finish_all(int from, int to) {
    for (int i = from; i < to; i++)
        finish(&pairs[i]);
}

/* The client's socket closes at once: the server's is reset. */
static void reset(struct pair *pair) {
    struct linger at_once = {1, 0};
    setsockopt(pair->client_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(pair->client_fd);
}

/* What the server's end is told, which has come to nothing. */
static int failure_of(struct pair *pair, int *number) {
    ERR_clear_error();
    errno = 0;
    int result = SSL_accept(pair->server);
    *number = errno;
    check(result <= 0);
    return SSL_get_error(pair->server, result);
}

/* ------------------------------------------------------------------------------------- the tests */

struct test {
    const char *name;
    void (*run)(void);
};

/* What a test is given besides its name and the version. */
static char **rest;

static int run(const struct test *tests, int count, char **arguments) {
    check(count >= 3);
    rest = arguments + 3;
    /* One that waits for what never comes is to fail. */
    alarm(100);
    make_contexts(strcmp(arguments[2], "2") == 0 ? TLS1_2_VERSION : TLS1_3_VERSION);
    wait_with_company();
    for (; tests->name != NULL; tests++)
        if (strcmp(tests->name, arguments[1]) == 0) {
            tests->run();
            return 0;
        }
    give_up(arguments[1], __LINE__);
    return 1;
}

#define TEST(name) {#name, name}

/* What a program ends with: the tests that it has. usage: TEST VERSION [MORE] */
#define TESTS(...) \
    int main(int count, char **arguments) { \
        static const struct test tests[] = {__VA_ARGS__, {NULL, NULL}}; \
        return run(tests, count, arguments); \
    }
