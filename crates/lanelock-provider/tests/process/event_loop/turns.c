/* When paused handshakes go on. usage: turns TEST VERSION */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Eight operations are a batch: the call that brings the last answers all eight clients. */
static void full(void) {
    make_pairs(8);
    drive_all(0, 7);
    check(answered(0, 8) == 0);
    drive(&pairs[7]);
    check(answered(0, 8) == 8);
    finish_all(0, 8);
}

/* The same, with a call that reads in front. */
static void full_by_read(void) {
    char byte;
    make_pairs(8);
    for (int i = 0; i < 8; i++) {
        check(answered(0, 8) == 0);
        check(SSL_get_error(pairs[i].server, SSL_read(pairs[i].server, &byte, 1)) == SSL_ERROR_WANT_READ);
    }
    check(answered(0, 8) == 8);
    finish_all(0, 8);
}

/* The same, with a call that reads early data: it goes on itself, because libssl waits for what its own
 * function returns. */
static void full_by_early_data(void) {
    char bytes[16];
    size_t done;
    SSL_CTX_set_max_early_data(servers, sizeof bytes);
    make_pairs(8);
    int has_come[8] = {0};
    for (int turns = 0; turns < 2; turns++) {
        for (int i = 0; i < 8; i++) {
            if (has_come[i])
                continue;
            ERR_clear_error();
            int result = SSL_read_early_data(pairs[i].server, bytes, sizeof bytes, &done);
            has_come[i] = result == SSL_READ_EARLY_DATA_FINISH;
            if (!has_come[i])
                check(SSL_get_error(pairs[i].server, 0) == SSL_ERROR_WANT_READ && turns == 0);
        }
        check(answered(0, 8) == (turns == 0 ? 8 : 1));
        /* All but the last are told when their clients have ended the handshake. */
        check(has_come[7]);
        for (int i = 0; i < 7 && turns == 0; i++)
            check(SSL_connect(pairs[i].client) == 1 && readable(pairs[i].server_fd, 10000));
    }
    finish_all(0, 8);
}

/* The call's own failure, and its number, stay what they are while others go on. */
static void full_and_failed(void) {
    int number;
    make_pairs(8);
    drive_all(0, 7);
    check(shutdown(pairs[7].server_fd, SHUT_WR) == 0);
    check(failure_of(&pairs[7], &number) == SSL_ERROR_SYSCALL && number == EPIPE);
    check(answered(0, 7) == 7);
    finish_all(0, 7);
}

/* A loop that never comes round sends no more than so many answers; the rest wait until it does. */
static void endless(void) {
    make_pairs(MOST);
    drive_all(0, MOST);
    printf("answered %d", answered(0, MOST));
    wait_busily();
    printf(" then %d\n", answered(0, MOST));
    finish_all(0, MOST);
}

/* Too few for a batch: they wait until the loop has nothing else to do. */
static void partial(void) {
    make_pairs(5);
    drive_all(0, 5);
    check(answered(0, 5) == 0);
    wait_idly();
    check(answered(0, 5) == 5);
    finish_all(0, 5);
}

/* As few as lanes are no use for. */
static void two(void) {
    make_pairs(2);
    drive_all(0, 2);
    check(answered(0, 2) == 0);
    wait_idly();
    check(answered(0, 2) == 2);
    finish_all(0, 2);
}

/* A loop that is never idle: they wait for the time that they may, however many turns that is. */
static void busy(void) {
    make_pairs(3);
    double start = seconds();
    drive_all(0, 3);
    int turns = 0;
    while (answered(0, 3) == 0)
        turns++, wait_busily();
    /* For the second operation of each, in 1.3, they wait once more. */
    check(seconds() - start >= (SSL_version(pairs[0].server) == TLS1_3_VERSION ? 0.010 : 0.005));
    while (answered(0, 3) < 3)
        wait_busily();
    printf("turns %d\n", turns);
    finish_all(0, 3);
}

/* The same with a deadline of a microsecond: the next turn is late. */
static void due(void) {
    make_pairs(3);
    drive_all(0, 3);
    check(answered(0, 3) == 0);
    usleep(1000);
    wait_busily();
    check(answered(0, 3) == 3);
    finish_all(0, 3);
}

TESTS(TEST(full), TEST(full_by_read), TEST(full_by_early_data), TEST(full_and_failed),
      TEST(endless), TEST(partial), TEST(two), TEST(busy), TEST(due))
