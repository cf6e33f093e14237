/* Calls the function `run` of a library that it opens for itself, as hosts of plugins do. With
 * -DLIBSSL it is linked with libssl, which is then in the scope of everything. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef LIBSSL
#include <openssl/ssl.h>
#endif

int main(int count, char **arguments) {
    if (count < 2) {
        const char *preloaded = getenv("LD_PRELOAD");
        puts(preloaded == NULL ? "" : preloaded);
        return 0;
    }
#ifdef LIBSSL
    SSL_CTX *context = SSL_CTX_new(TLS_method());
    SSL_free(SSL_new(context));
    SSL_CTX_free(context);
#endif
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int (*run)(void) = (int (*)(void))dlsym(library, "run");
    return run();
}
