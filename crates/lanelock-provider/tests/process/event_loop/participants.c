/* Which connections take part; the others are served as without the module. usage: participants TEST
 * VERSION [LIBRARY] */

/* The answer is there when the call returns, and the handshake comes to its end. */
static void is_served_at_once(struct pair *pair) {
    drive(pair);
    check(!takes_part(pair->server) && is_answered(pair));
    finish(pair);
}

static void all_take_part(int count) {
    make_pairs(count);
    for (int i = 0; i < count; i++) {
        drive(&pairs[i]);
        check(takes_part(pairs[i].server) && !is_answered(&pairs[i]));
    }
    finish_all(0, count);
}

static void none_takes_part(int count) {
    make_pairs(count);
    for (int i = 0; i < count; i++)
        is_served_at_once(&pairs[i]);
}

/* What all others are compared with. */
static void usual(void) {
    all_take_part(3);
}

static void none(void) {
    none_takes_part(9);
}

/* Its thread has one event at a time to see to. */
static void lone(void) {
    wait_busily();
    make_pairs(1);
    is_served_at_once(&pairs[0]);
    for (int i = 0; i < 3; i++) {
        wait_busily();
        make_pairs(1);
        is_served_at_once(&pairs[0]);
    }
    /* The second between two turns has company. */
    wait_busily();
    make_pairs(2);
    drive_all(0, 2);
    check(!takes_part(pairs[0].server) && takes_part(pairs[1].server));
    finish_all(0, 2);
}

static void client(void) {
    connect_sockets(&pairs[0]);
    make_ends(&pairs[0]);
    SSL_set_connect_state(pairs[0].client);
    check(SSL_get_error(pairs[0].client, SSL_do_handshake(pairs[0].client)) == SSL_ERROR_WANT_READ);
    check(!takes_part(pairs[0].client));
    check(readable(pairs[0].server_fd, 10000));
    drive(&pairs[0]);
    check(takes_part(pairs[0].server) && !takes_part(pairs[0].client));
    finish(&pairs[0]);
    check(!takes_part(pairs[0].client));
}

/* It blocks, though not for ever. */
static void blocking(void) {
    struct timeval moment = {0, 1000};
    make_pairs(1);
    check(fcntl(pairs[0].server_fd, F_SETFL, 0) == 0);
    setsockopt(pairs[0].server_fd, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
    is_served_at_once(&pairs[0]);
}

/* What kind of socket it is does not matter. */
static void unix_socket(void) {
    int fds[2];
    for (int i = 0; i < 3; i++) {
        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
        pairs[i].server_fd = fds[0];
        pairs[i].client_fd = fds[1];
        make_ends(&pairs[i]);
        greet(&pairs[i]);
        drive(&pairs[i]);
        check(takes_part(pairs[i].server) && !is_answered(&pairs[i]));
    }
    finish_all(0, 3);
}

/* A pipe for each direction. */
static void pipes(void) {
    int there[2], back[2];
    check(pipe2(there, O_NONBLOCK) == 0 && pipe2(back, O_NONBLOCK) == 0);
    pairs[0].server_fd = there[0];
    pairs[0].client_fd = back[0];
    make_ends(&pairs[0]);
    check(SSL_set_wfd(pairs[0].server, back[1]) == 1 && SSL_set_wfd(pairs[0].client, there[1]) == 1);
    greet(&pairs[0]);
    is_served_at_once(&pairs[0]);
}

/* A filter in front of the socket. */
static void filter(void) {
    make_pairs(1);
    BIO *socket = BIO_new_socket(pairs[0].server_fd, BIO_NOCLOSE);
    BIO *chain = BIO_push(BIO_new(BIO_f_null()), socket);
    SSL_set_bio(pairs[0].server, chain, chain);
    is_served_at_once(&pairs[0]);
}

/* Memory, that the program fills from the socket. */
static void memory(void) {
    char bytes[4096];
    make_pairs(1);
    ssize_t count = read(pairs[0].server_fd, bytes, sizeof bytes);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    SSL_set_bio(pairs[0].server, in, out);
    check(count > 0 && BIO_write(in, bytes, (int)count) == count);
    drive(&pairs[0]);
    check(!takes_part(pairs[0].server) && BIO_pending(out) > 0);
}

/* A program that knows asynchronous mode sees it as it is. */
static void own(void) {
    make_pairs(2);
    for (int i = 0; i < 2; i++) {
        SSL_set_mode(pairs[i].server, SSL_MODE_ASYNC);
        int error = SSL_get_error(pairs[i].server, SSL_accept(pairs[i].server));
        check(error == SSL_ERROR_WANT_ASYNC && SSL_want(pairs[i].server) == SSL_ASYNC_PAUSED);
    }
    /* The module does not resume it. */
    wait_idly();
    check(answered(0, 2) == 0 && SSL_waiting_for_async(pairs[0].server));
    for (int turns = 0; turns < 100 && answered(0, 2) < 2; turns++)
        for (int i = 0; i < 2; i++)
            if (SSL_waiting_for_async(pairs[i].server))
                SSL_accept(pairs[i].server);
    check(answered(0, 2) == 2 && takes_part(pairs[0].server));
}

static int how_many;

static void *elsewhere(void *first) {
    for (int i = 0; i < how_many; i++)
        drive((struct pair *)first + i);
    return NULL;
}

static void drive_elsewhere(struct pair *first, int count) {
    pthread_t other;
    how_many = count;
    check(pthread_create(&other, NULL, elsewhere, first) == 0);
    pthread_join(other, NULL);
}

/* A thread that has never waited for events may never do so. */
static void new_thread(void) {
    make_pairs(4);
    drive_elsewhere(pairs, 3);
    for (int i = 0; i < 3; i++)
        check(!takes_part(pairs[i].server) && is_answered(&pairs[i]));
    drive(&pairs[3]);
    check(takes_part(pairs[3].server));
    finish_all(0, 4);
}

/* One is driven by two threads: it comes to its end, and no other takes part from then on. */
static void handed_over(void) {
    make_pairs(3);
    drive(&pairs[0]);
    check(takes_part(pairs[0].server));
    drive_elsewhere(pairs, 1);
    check(!is_answered(&pairs[0]));
    is_served_at_once(&pairs[1]);
    finish(&pairs[0]);
    is_served_at_once(&pairs[2]);
}

/* A library is mapped that runs another language's code. */
static void interpreter(void) {
    check(dlopen(rest[0], RTLD_NOW) != NULL);
    none_takes_part(2);
}

static void interpreter_allowed(void) {
    check(dlopen(rest[0], RTLD_NOW) != NULL);
    all_take_part(2);
}

/* The same if jobs were made before, of the program's own: theirs are the stacks that libcrypto makes. */
static int nothing(void *argument) {
    (void)argument;
    return 1;
}

static void interpreter_late(void) {
    ASYNC_JOB *job = NULL;
    ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
    int result;
    check(ASYNC_start_job(&job, wait, &result, nothing, NULL, 0) == ASYNC_FINISH);
    interpreter();
}

TESTS(TEST(usual), TEST(none), TEST(lone), TEST(client), TEST(blocking), TEST(unix_socket),
      TEST(pipes), TEST(filter), TEST(memory), TEST(own), TEST(new_thread), TEST(handed_over),
      TEST(interpreter), TEST(interpreter_allowed), TEST(interpreter_late))
