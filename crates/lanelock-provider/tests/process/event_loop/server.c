/* A server that knows nothing of OpenSSL's asynchronous mode, and its clients, which are a child
 * process: each shakes hands, hears the server's greeting and says goodbye; of every three that are
 * to be rude, one leaves after its first message, one resets the connection there, one resets it at
 * once.
 * usage: server LOOP DRIVER VERSION CLIENTS RUDE
 *     LOOP: level, edge (epoll), pwait, pwait2, poll, ppoll, select, pselect; fork is level, with a child
 *     process in every turn that waits for nothing; handed is level, with every second step of a
 *     connection made by another thread
 *     DRIVER: handshake, accept, read (the client speaks first), write
 *     VERSION: 2 or 3, for TLS 1.2 and 1.3
 * Prints how many were served and how many were lost, how many descriptors were left open, and how
 * many bytes of a job's stack were used at most. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/async.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 32
#define MOST 512

static void check(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        ERR_print_errors_fp(stderr);
        exit(1);
    }
}

/* ------------------------------------------------------------------------------------ its stacks */

/* What libcrypto asks for when it makes a job, and for nothing else. */
#define STACK 32768
#define PAINT 0x5c

static unsigned char *stacks[MOST];
static size_t deepest;

static void measure(const unsigned char *stack) {
    size_t untouched = 0;
    while (untouched < STACK && stack[untouched] == PAINT)
        untouched++;
    if (STACK - untouched > deepest)
        deepest = STACK - untouched;
}

static void *painted(size_t size, const char *file, int line) {
    (void)file, (void)line;
    unsigned char *memory = malloc(size);
    if (size == STACK && memory != NULL) {
        int place = 0;
        while (place < MOST && stacks[place] != NULL)
            place++;
        check(place < MOST, "too many stacks");
        stacks[place] = memset(memory, PAINT, size);
    }
    return memory;
}

/* Where a program may allocate stacks itself, this one's stay. */
static void *stack_of_its_own(size_t *size) {
    return painted(*size, "", 0);
}

static void *resized(void *memory, size_t size, const char *file, int line) {
    (void)file, (void)line;
    return realloc(memory, size);
}

static void measured(void *memory, const char *file, int line) {
    (void)file, (void)line;
    for (int i = 0; memory != NULL && i < MOST; i++)
        if (stacks[i] == memory) {
            measure(memory);
            stacks[i] = NULL;
        }
    free(memory);
}

static void free_stack(void *memory) {
    measured(memory, "", 0);
}

static void allocate_stacks(void) {
    int (*set)(void *(*)(size_t *), void (*)(void *));
    set = (int (*)(void *(*)(size_t *), void (*)(void *)))dlsym(RTLD_DEFAULT, "ASYNC_set_mem_functions");
    if (set != NULL)
        check(set(stack_of_its_own, free_stack) == 1, "stacks of its own");
}

/* ------------------------------------------------------------------------------------ the server */

static const char *loop, *driver;
static SSL *connections[MOST];
static unsigned steps[MOST];
static int events_of[MOST], has_read[MOST], epoll_fd = -1, listener, open_connections, served, lost;

static SSL_CTX *server_context(int version) {
    FILE *file = fopen(getenv("KEY"), "r");
    EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    X509 *certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    check(X509_sign(certificate, key, EVP_sha256()) > 0, "a certificate");
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_max_proto_version(context, version);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    /* As nginx has it: more than one record may be in libssl's own buffer. */
    SSL_CTX_set_read_ahead(context, 1);
    check(SSL_CTX_use_certificate(context, certificate) == 1, "the certificate");
    check(SSL_CTX_use_PrivateKey(context, key) == 1, "the key");
    X509_free(certificate);
    EVP_PKEY_free(key);
    fclose(file);
    return context;
}

static void listen_to(int fd, int events) {
    if (epoll_fd >= 0 && events_of[fd] != events) {
        int edge = strcmp(loop, "edge") == 0;
        struct epoll_event event = {.events = (events & POLLIN ? EPOLLIN | EPOLLRDHUP : 0) |
                                              (events & POLLOUT ? EPOLLOUT : 0) |
                                              (edge ? (unsigned)EPOLLET : 0u),
                                    .data.fd = fd};
        int how = events_of[fd] == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
        check(epoll_ctl(epoll_fd, how, fd, &event) == 0, "epoll_ctl");
    }
    events_of[fd] = events;
}

static void end(int fd) {
    SSL_free(connections[fd]);
    connections[fd] = NULL;
    steps[fd] = 0;
    events_of[fd] = 0;
    has_read[fd] = 0;
    close(fd);
    open_connections--;
}

static void step(int fd) {
    SSL *ssl = connections[fd];
    char byte;
    int result;
    ERR_clear_error();
    if (strcmp(driver, "read") == 0) {
        result = has_read[fd] ? 1 : SSL_read(ssl, &byte, 1);
        has_read[fd] = result == 1;
        if (result == 1)
            result = SSL_write(ssl, "hello", 5);
    } else if (strcmp(driver, "write") == 0) {
        result = SSL_write(ssl, "hello", 5);
    } else {
        result = strcmp(driver, "accept") == 0 ? SSL_accept(ssl) : SSL_do_handshake(ssl);
        if (result == 1)
            result = SSL_write(ssl, "hello", 5);
    }
    int error = SSL_get_error(ssl, result);
    if (result == 5) {
        served++;
        SSL_shutdown(ssl);
        end(fd);
    } else if (error == SSL_ERROR_WANT_READ) {
        check(SSL_want_read(ssl), "SSL_want");
        listen_to(fd, POLLIN);
    } else if (error == SSL_ERROR_WANT_WRITE) {
        listen_to(fd, POLLOUT);
    } else {
        check(error == SSL_ERROR_SYSCALL || error == SSL_ERROR_SSL || error == SSL_ERROR_ZERO_RETURN,
              "SSL_get_error");
        lost++;
        end(fd);
    }
}

static void *step_elsewhere(void *fd) {
    step(*(int *)fd);
    return NULL;
}

static void advance(int fd) {
    pthread_t other;
    if (strcmp(loop, "handed") == 0 && ++steps[fd] % 2 == 0) {
        check(pthread_create(&other, NULL, step_elsewhere, &fd) == 0, "a thread");
        pthread_join(other, NULL);
    } else {
        step(fd);
    }
}

static void accept_all(SSL_CTX *context) {
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        check(fd < MOST, "a small descriptor");
        connections[fd] = SSL_new(context);
        SSL_set_fd(connections[fd], fd);
        SSL_set_accept_state(connections[fd]);
        open_connections++;
        advance(fd);
    }
}

/* A child has this process's paused handshakes in its memory, and is to leave them alone. */
static void wait_in_child(void) {
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 3; i++)
            poll(NULL, 0, 1);
        _exit(0);
    }
    check(waitpid(child, NULL, 0) == child, "a child");
}

/* Waits a moment at most, and sees to what is ready. */
static void turn(SSL_CTX *context) {
    if (strcmp(loop, "fork") == 0)
        wait_in_child();
    struct timespec moment = {0, 50000000};
    if (epoll_fd >= 0) {
        struct epoll_event ready[16];
        int count = strcmp(loop, "pwait") == 0    ? epoll_pwait(epoll_fd, ready, 16, 50, NULL)
                    : strcmp(loop, "pwait2") == 0 ? epoll_pwait2(epoll_fd, ready, 16, &moment, NULL)
                                                  : epoll_wait(epoll_fd, ready, 16, 50);
        for (int i = 0; i < count; i++)
            if (ready[i].data.fd == listener)
                accept_all(context);
            else if (connections[ready[i].data.fd] != NULL)
                advance(ready[i].data.fd);
    } else if (strstr(loop, "poll") != NULL) {
        struct pollfd ready[MOST];
        nfds_t count = 0;
        for (int fd = 0; fd < MOST; fd++)
            if (events_of[fd] != 0)
                ready[count++] = (struct pollfd){.fd = fd, .events = (short)events_of[fd]};
        if (strcmp(loop, "poll") == 0)
            poll(ready, count, 50);
        else
            ppoll(ready, count, &moment, NULL);
        for (nfds_t i = 0; i < count; i++)
            if (ready[i].revents != 0 && ready[i].fd == listener)
                accept_all(context);
            else if (ready[i].revents != 0)
                advance(ready[i].fd);
    } else {
        fd_set readable, writable;
        FD_ZERO(&readable);
        FD_ZERO(&writable);
        for (int fd = 0; fd < MOST; fd++)
            if (events_of[fd] != 0)
                FD_SET(fd, events_of[fd] == POLLIN ? &readable : &writable);
        struct timeval one = {0, 50000};
        if (strcmp(loop, "select") == 0)
            select(MOST, &readable, &writable, NULL, &one);
        else
            pselect(MOST, &readable, &writable, NULL, &moment, NULL);
        for (int fd = 0; fd < MOST; fd++)
            if (FD_ISSET(fd, &readable) || FD_ISSET(fd, &writable)) {
                if (fd == listener)
                    accept_all(context);
                else
                    advance(fd);
            }
    }
}

static int descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < MOST; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* ----------------------------------------------------------------------------------- the clients */

static int connected(const struct sockaddr_in *address) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(fd, (const struct sockaddr *)address, sizeof *address) == 0, "connect");
    struct timeval patience = {20, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* Sends the first message of a handshake. */
static void begin(SSL *ssl, int fd) {
    BIO *nothing = BIO_new(BIO_s_mem());
    BIO *socket = BIO_new_socket(fd, BIO_NOCLOSE);
    SSL_set_bio(ssl, nothing, socket);
    SSL_connect(ssl);
}

static int clients(const struct sockaddr_in *address, int version, int count, int rude) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, version);
    int failed = 0;
    for (int done = 0; done < count; done += AT_ONCE) {
        SSL *ssl[AT_ONCE];
        int fds[AT_ONCE];
        /* All first messages, so that the server has company for each. */
        for (int i = 0; i < AT_ONCE; i++) {
            fds[i] = connected(address);
            ssl[i] = SSL_new(context);
            begin(ssl[i], fds[i]);
            int how = rude && i % 2 == 1 ? 1 + i / 2 % 3 : 0;
            if (how == 0)
                continue;
            struct linger at_once = {1, 0};
            if (how > 1)
                setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            if (how == 3)
                usleep(2000);
            close(fds[i]);
            SSL_free(ssl[i]);
            ssl[i] = NULL;
        }
        for (int i = 0; i < AT_ONCE; i++) {
            if (ssl[i] == NULL)
                continue;
            char greeting[5];
            SSL_set0_rbio(ssl[i], BIO_new_socket(fds[i], BIO_NOCLOSE));
            int good = SSL_connect(ssl[i]) == 1;
            good = good && (strcmp(driver, "read") != 0 || SSL_write(ssl[i], "?", 1) == 1);
            good = good && SSL_read(ssl[i], greeting, 5) == 5 && memcmp(greeting, "hello", 5) == 0;
            failed += !good;
            SSL_free(ssl[i]);
            close(fds[i]);
        }
    }
    SSL_CTX_free(context);
    return failed;
}

int main(int count, char **arguments) {
    check(count == 6, "usage: LOOP DRIVER VERSION CLIENTS RUDE");
    check(CRYPTO_set_mem_functions(painted, resized, measured) == 1, "memory of its own");
    allocate_stacks();
    loop = arguments[1];
    driver = arguments[2];
    int version = strcmp(arguments[3], "2") == 0 ? TLS1_2_VERSION : TLS1_3_VERSION;
    int wanted = atoi(arguments[4]), rude = atoi(arguments[5]);
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    check(bind(listener, (struct sockaddr *)&address, len) == 0, "bind");
    check(listen(listener, 256) == 0, "listen");
    getsockname(listener, (struct sockaddr *)&address, &len);
    pid_t child = fork();
    if (child == 0)
        _exit(clients(&address, version, wanted, rude) != 0);
    SSL_CTX *context = server_context(version);
    if (strstr(loop, "poll") == NULL && strstr(loop, "select") == NULL)
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    listen_to(listener, POLLIN);
    int before = descriptors(), status = -1;
    while (waitpid(child, &status, WNOHANG) == 0)
        turn(context);
    for (int i = 0; i < 20 && open_connections > 0; i++)
        turn(context);
    SSL_CTX_free(context);
    /* Frees the stacks that are kept for the next jobs. */
    ASYNC_cleanup_thread();
    printf("served %d, lost %d, left %d, stack %zu\n", served, lost, descriptors() - before, deepest);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
