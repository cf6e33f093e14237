/* What goes wrong while a handshake is paused or resumed. usage: faults TEST VERSION */

static int first_error(void) {
    return ERR_GET_REASON(ERR_peek_error());
}

/* The client has gone when its answer is sent: the program learns it as from its own call. */
static void gone(void) {
    int number;
    make_pairs(4);
    drive_all(0, 4);
    reset(&pairs[2]);
    wait_idly();
    check(failure_of(&pairs[2], &number) == SSL_ERROR_SYSCALL);
    check(number == ECONNRESET && ERR_peek_error() == 0);
    /* From then on it is libssl's. */
    check(!takes_part(pairs[2].server) && SSL_accept(pairs[2].server) <= 0);
    finish_all(0, 2);
    finish(&pairs[3]);
}

/* The client's share is a point of small order: the operation fails, in a batch and by itself. */
static void no_secret(void) {
    static const unsigned char share[] = {0x00, 0x1d, 0x00, 0x20};
    unsigned char hello[4096], alert[7];
    int number;
    make_pairs(3);
    connect_sockets(&pairs[3]);
    make_ends(&pairs[3]);
    BIO *out = BIO_new(BIO_s_mem());
    SSL_set_bio(pairs[3].client, BIO_new(BIO_s_mem()), out);
    check(SSL_connect(pairs[3].client) == -1);
    int len = BIO_read(out, hello, sizeof hello);
    unsigned char *place = memmem(hello, (size_t)len, share, sizeof share);
    check(place != NULL);
    memset(place + sizeof share, 0, 32);
    check(write(pairs[3].client_fd, hello, (size_t)len) == len && readable(pairs[3].server_fd, 10000));
    drive_all(0, 4);
    check(takes_part(pairs[3].server) && answered(0, 4) == 0);
    wait_idly();
    check(read(pairs[3].client_fd, alert, sizeof alert) == sizeof alert && alert[0] == 21);
    check(failure_of(&pairs[3], &number) == SSL_ERROR_SSL);
    check(ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_BAD_KEY_SHARE);
    finish_all(0, 3);
}

/* What the client sends while its handshake is paused stays for the program's own call. */
static void alert(void) {
    static const unsigned char fatal[] = {21, 3, 3, 0, 2, 2, 40};
    int number;
    make_pairs(4);
    drive_all(0, 4);
    check(write(pairs[1].client_fd, fatal, sizeof fatal) == sizeof fatal);
    wait_idly();
    check(answered(0, 4) == 4);
    check(failure_of(&pairs[1], &number) == SSL_ERROR_SSL);
    check(first_error() == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE);
    finish(&pairs[0]);
    finish_all(2, 4);
}

/* The message of a client that middleboxes are to see (RFC 8446, D.4), and that means nothing. */
static void send_nothing(struct pair *pair) {
    static const unsigned char change[] = {20, 3, 3, 0, 1, 1};
    check(write(pair->client_fd, change, sizeof change) == sizeof change);
    check(readable(pair->server_fd, 10000));
}

/* The program may have heard of what comes behind the first message: no pause, since libssl reads it now. */
static void more_to_read(void) {
    make_pairs(4);
    for (int i = 0; i < 2; i++) {
        /* The record of the first message, and what follows. */
        send_nothing(&pairs[i]);
        drive(&pairs[i]);
        check(is_answered(&pairs[i]) && !readable(pairs[i].server_fd, 0));
    }
    drive_all(2, 4);
    check(answered(2, 4) == 0);
    wait_idly();
    finish_all(0, 4);
}

static int changes;

static void *hear_of_it(void *pair) {
    struct epoll_event ready;
    check(epoll_wait(changes, &ready, 1, 10000) == 1);
    drive(pair);
    return NULL;
}

/* Another thread hears of what came while it was paused, and leaves it to this one, which is told again. */
static void turned_away(void) {
    struct epoll_event ready, event = {.events = EPOLLIN | EPOLLET};
    pthread_t other;
    make_pairs(3);
    drive_all(0, 3);
    changes = epoll_create1(EPOLL_CLOEXEC);
    send_nothing(&pairs[1]);
    check(epoll_ctl(changes, EPOLL_CTL_ADD, pairs[1].server_fd, &event) == 0);
    check(pthread_create(&other, NULL, hear_of_it, &pairs[1]) == 0);
    pthread_join(other, NULL);
    check(!is_answered(&pairs[1]));
    wait_idly();
    check(answered(0, 3) == 3);
    check(epoll_wait(changes, &ready, 1, 0) == 1);
    finish_all(0, 3);
}

/* The last message of the client's is not what it is to be. */
static void bad_finished(void) {
    unsigned char record[5 + 64] = {23, 3, 3, 0, 64};
    int number;
    make_pairs(4);
    drive_all(0, 4);
    wait_idly();
    check(write(pairs[3].client_fd, record, sizeof record) == sizeof record);
    check(failure_of(&pairs[3], &number) == SSL_ERROR_SSL);
    check(first_error() == SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC);
    finish_all(0, 3);
}

/* The socket has no room for the answer: it leaves as soon as there is some. */
static void full(void) {
    static char junk[65536];
    ssize_t sent = 0, now;
    make_pairs(3);
    while ((now = write(pairs[0].server_fd, junk, sizeof junk)) > 0)
        sent += now;
    drive_all(0, 3);
    wait_idly();
    check(answered(1, 3) == 2);
    drive(&pairs[1]);
    while (sent > 0) {
        check(readable(pairs[0].client_fd, 10000));
        now = read(pairs[0].client_fd, junk, (size_t)sent < sizeof junk ? (size_t)sent : sizeof junk);
        check(now > 0);
        sent -= now;
    }
    for (int turns = 0; turns < 1000 && !is_answered(&pairs[0]); turns++)
        wait_idly();
    check(is_answered(&pairs[0]));
    finish_all(0, 3);
}

/* Freed while it is paused: its job ends, another connection gets it, and the others do not notice. */
static void freed(void) {
    check(ASYNC_init_thread(5, 0) == 1);
    make_pairs(9);
    drive_all(0, 5);
    SSL_free(pairs[3].server);
    check(!is_answered(&pairs[3]));
    drive(&pairs[5]);
    check(takes_part(pairs[5].server));
    wait_idly();
    check(answered(0, 6) == 5);
    drive_all(6, 8);
    SSL_free(pairs[5].server);
    SSL_free(pairs[6].server);
    SSL_free(pairs[7].server);
    wait_idly();
    finish(&pairs[8]);
    finish_all(0, 3);
    finish(&pairs[4]);
}

static void *free_it(void *ssl) {
    SSL_free(ssl);
    return NULL;
}

/* The same by another thread, which leaves the job as it is. */
static void freed_elsewhere(void) {
    pthread_t other;
    make_pairs(5);
    drive_all(0, 5);
    check(pthread_create(&other, NULL, free_it, pairs[1].server) == 0);
    pthread_join(other, NULL);
    wait_idly();
    check(answered(0, 5) == 4 && !is_answered(&pairs[1]));
    finish(&pairs[0]);
    finish_all(2, 5);
}

/* A handshake that is under way cannot be shut down, and goes on. */
static void shut_down(void) {
    make_pairs(3);
    drive_all(0, 3);
    ERR_clear_error();
    check(SSL_shutdown(pairs[1].server) == -1 && first_error() == SSL_R_SHUTDOWN_WHILE_IN_INIT);
    check(SSL_get_error(pairs[1].server, -1) == SSL_ERROR_SSL && answered(0, 3) == 0);
    wait_idly();
    check(answered(0, 3) == 3);
    finish_all(0, 3);
}

/* One that is cleared begins anew, with another client. */
static void cleared(void) {
    make_pairs(3);
    drive_all(0, 3);
    check(SSL_clear(pairs[1].server) == 1 && !takes_part(pairs[1].server));
    wait_idly();
    check(answered(0, 3) == 2 && !is_answered(&pairs[1]));
    SSL_free(pairs[1].client);
    pairs[1].client = SSL_new(clients);
    check(SSL_set_fd(pairs[1].client, pairs[1].client_fd) == 1);
    greet(&pairs[1]);
    finish_all(0, 3);
}

static void *clear_it(void *ssl) {
    check(SSL_clear(ssl) == 0);
    return NULL;
}

/* Another thread cannot end the job, and is told so. */
static void cleared_elsewhere(void) {
    pthread_t other;
    make_pairs(3);
    drive_all(0, 3);
    check(pthread_create(&other, NULL, clear_it, pairs[1].server) == 0);
    pthread_join(other, NULL);
    wait_idly();
    finish_all(0, 3);
}

/* The program drives a paused one, for a timer of its own: it goes on at once, and pauses no more. */
static void hurried(void) {
    make_pairs(3);
    drive_all(0, 3);
    drive(&pairs[1]);
    check(is_answered(&pairs[1]));
    wait_idly();
    finish_all(0, 3);
}

/* libcrypto has two jobs: the third runs without. */
static void no_jobs(void) {
    check(ASYNC_init_thread(2, 0) == 1);
    make_pairs(4);
    drive_all(0, 4);
    check(takes_part(pairs[0].server) && takes_part(pairs[1].server) && answered(0, 2) == 0);
    check(!takes_part(pairs[2].server) && !takes_part(pairs[3].server) && answered(2, 4) == 2);
    wait_idly();
    check(answered(0, 2) == 2);
    finish_all(0, 4);
}

static int entered, left;

/* Code of the program's, with a private-key operation. */
static void call_back(void) {
    unsigned char signature[256];
    size_t len = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int before = pauses;
    entered++;
    check(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1);
    check(EVP_DigestSign(context, signature, &len, (const unsigned char *)"text", 4) == 1);
    check(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1);
    check(EVP_DigestVerify(context, signature, len, (const unsigned char *)"text", 4) == 1);
    check(pauses == before);
    EVP_MD_CTX_free(context);
    left++;
}

static int on_name(SSL *ssl, int *reason, void *argument) {
    (void)ssl, (void)reason, (void)argument;
    call_back();
    return SSL_TLSEXT_ERR_OK;
}

static int on_protocols(SSL *ssl, const unsigned char **out, unsigned char *len, const unsigned char *in,
                        unsigned int in_len, void *argument) {
    (void)ssl, (void)in_len, (void)argument;
    call_back();
    *len = in[0];
    *out = in + 1;
    return SSL_TLSEXT_ERR_OK;
}

static int on_certificate(SSL *ssl, void *argument) {
    (void)ssl, (void)argument;
    call_back();
    return 1;
}

/* While the server's messages are made, when operations of the handshake pause. */
static void on_message(int is_sent, int version, int type, const void *bytes, size_t len, SSL *ssl,
                       void *argument) {
    (void)version, (void)bytes, (void)len, (void)ssl, (void)argument;
    if (is_sent && type == SSL3_RT_HANDSHAKE)
        call_back();
}

static void callbacks(void) {
    SSL_CTX_set_msg_callback(servers, on_message);
    SSL_CTX_set_tlsext_servername_callback(servers, on_name);
    SSL_CTX_set_alpn_select_cb(servers, on_protocols, NULL);
    SSL_CTX_set_cert_cb(servers, on_certificate, NULL);
    SSL_CTX_set_alpn_protos(clients, (const unsigned char *)"\2h2", 3);
    make_pairs(3);
    for (int i = 0; i < 3; i++) {
        check(SSL_set_async_callback(pairs[i].server, on_pause) == 1);
        drive(&pairs[i]);
        /* They have come to their end before the handshake pauses. */
        check(entered >= 3 * (i + 1) && left == entered && pauses == i + 1);
        check(takes_part(pairs[i].server));
    }
    finish_all(0, 3);
    check(entered > 9 && left == entered);
}

static volatile unsigned char deepest;

/* As much as another language's code may take: more than a job of libcrypto's own has. */
static int on_name_deeply(SSL *ssl, int *reason, void *argument) {
    volatile unsigned char much[4 * 1024 * 1024];
    (void)ssl, (void)reason, (void)argument;
    for (size_t i = 0; i < sizeof much; i += 1024)
        much[i] = (unsigned char)i;
    deepest = much[0];
    return SSL_TLSEXT_ERR_OK;
}

static int has_large_stacks(void) {
    return dlsym(RTLD_DEFAULT, "ASYNC_set_mem_functions") != NULL;
}

/* On the stacks that the module allocates there is room for it. */
static void deep(void) {
    if (has_large_stacks()) {
        SSL_CTX_set_tlsext_servername_callback(servers, on_name_deeply);
        make_pairs(3);
        drive_all(0, 3);
        for (int i = 0; i < 3; i++)
            check(takes_part(pairs[i].server) && !is_answered(&pairs[i]));
        finish_all(0, 3);
    }
    printf("%d\n", has_large_stacks());
}

/* A share and a signature, or the signature alone. */
static void two_pauses(void) {
    make_pairs(5);
    for (int i = 0; i < 5; i++)
        check(SSL_set_async_callback(pairs[i].server, on_pause) == 1);
    drive_all(0, 5);
    wait_idly();
    finish_all(0, 5);
    int most = SSL_version(pairs[0].server) == TLS1_3_VERSION ? 2 : 1;
    check(pauses == 5 * most);
}

static int read_ex(SSL *ssl) {
    char byte;
    size_t done;
    return SSL_read_ex(ssl, &byte, 1, &done);
}

static int peek_ex(SSL *ssl) {
    char byte;
    size_t done;
    return SSL_peek_ex(ssl, &byte, 1, &done);
}

static int write_ex(SSL *ssl) {
    size_t done;
    return SSL_write_ex(ssl, "hello", 5, &done);
}

static int read_plain(SSL *ssl) {
    char byte;
    return SSL_read(ssl, &byte, 1);
}

static int peek_plain(SSL *ssl) {
    char byte;
    return SSL_peek(ssl, &byte, 1);
}

static int write_plain(SSL *ssl) {
    return SSL_write(ssl, "hello", 5);
}

/* Whichever call begins a handshake. */
static void first_calls(void) {
    int (*const calls[])(SSL *) = {SSL_accept, SSL_do_handshake, read_plain, read_ex,
                                   peek_plain, peek_ex,          write_plain, write_ex};
    const int count = sizeof calls / sizeof *calls;
    /* With the eighth the batch would be full. */
    for (int from = 0; from < count; from += 4) {
        make_pairs(4);
        for (int i = 0; i < 4; i++) {
            SSL *server = pairs[i].server;
            ERR_clear_error();
            int result = calls[from + i](server);
            check(result <= 0 && SSL_get_error(server, result) == SSL_ERROR_WANT_READ);
            check(SSL_want_read(server) && takes_part(server) && !is_answered(&pairs[i]));
        }
        wait_idly();
        check(answered(0, 4) == 4);
        finish_all(0, 4);
        wait_with_company();
    }
}

int __poll_chk(struct pollfd *sockets, nfds_t count, int timeout, size_t size);

/* What a program calls that was built with _FORTIFY_SOURCE. */
static void fortified(void) {
    struct pollfd one = {.fd = bell, .events = POLLIN};
    make_pairs(3);
    drive_all(0, 3);
    check(__poll_chk(&one, 1, 1, sizeof one) == 0);
    check(answered(0, 3) == 3);
    finish_all(0, 3);
}

TESTS(TEST(gone), TEST(no_secret), TEST(alert), TEST(bad_finished), TEST(more_to_read),
      TEST(turned_away), TEST(full), TEST(freed), TEST(freed_elsewhere), TEST(shut_down),
      TEST(cleared), TEST(cleared_elsewhere), TEST(hurried), TEST(no_jobs), TEST(callbacks),
      TEST(two_pauses), TEST(deep), TEST(first_calls), TEST(fortified))
