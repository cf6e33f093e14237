/* Uses the other library. What it calls last is a jump, so that it is not on the stack. */
struct ssl_st;
struct ssl_st *SSL_new(void *context);
void SSL_free(struct ssl_st *connection);
int SSL_up_ref(struct ssl_st *connection);
extern int other_freed;

__attribute__((noinline)) static void let_go(struct ssl_st *connection) {
    SSL_free(connection);
}

int run(void) {
    other_freed = 0;
    struct ssl_st *connection = SSL_new(0);
    if (SSL_up_ref(connection) != 7)
        return 3;
    let_go(connection);
    return other_freed == 1 ? 0 : 4;
}
