/* Calls the function `run` of each library that it is given and opens for itself, as hosts of
 * plugins do. With -DLIBSSL it is linked with libssl, which is then in the scope of everything. */
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
    for (int i = 1; i < count; i++) {
        void *library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        int (*run)(void) = (int (*)(void))dlsym(library, "run");
        int result = run();
        if (result != 0)
            return result;
    }
    return 0;
}
