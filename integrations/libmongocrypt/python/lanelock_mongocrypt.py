"""lanelock under PyMongo's client-side encryption.

    import lanelock_mongocrypt
    lanelock_mongocrypt.install()

After that, every client with automatic or explicit encryption uses native hooks in place of
pymongocrypt's callbacks in Python, and decrypts the fields of a reply together.
"""

import os
import types

from cffi import FFI
from pymongocrypt import mongocrypt
from pymongocrypt.binding import ffi, lib

__all__ = ["install", "uninstall"]

# Name in the module pymongocrypt.mongocrypt, type there, name in the library.
_HOOKS = [
    ("aes_256_cbc_encrypt", "mongocrypt_crypto_fn", "lanelock_mongocrypt_aes_256_cbc_encrypt"),
    ("aes_256_cbc_decrypt", "mongocrypt_crypto_fn", "lanelock_mongocrypt_aes_256_cbc_decrypt"),
    ("aes_256_ctr_encrypt", "mongocrypt_crypto_fn", "lanelock_mongocrypt_aes_256_ctr_encrypt"),
    ("aes_256_ctr_decrypt", "mongocrypt_crypto_fn", "lanelock_mongocrypt_aes_256_ctr_decrypt"),
    ("hmac_sha_256", "mongocrypt_hmac_fn", "lanelock_mongocrypt_hmac_sha_256"),
    ("hmac_sha_512", "mongocrypt_hmac_fn", "lanelock_mongocrypt_hmac_sha_512"),
    ("sha_256", "mongocrypt_hash_fn", "lanelock_mongocrypt_sha_256"),
    ("secure_random", "mongocrypt_random_fn", "lanelock_mongocrypt_random"),
]

# The hooks' arguments are pymongocrypt's affair: their addresses are all that is taken from here.
_own = FFI()
_own.cdef(
    "".join(f"void {name}(void);" for _, _, name in _HOOKS)
    + """
    void lanelock_mongocrypt_errors(void *status_set);
    size_t lanelock_mongocrypt_document_begin(const void *bytes, size_t length);
    size_t lanelock_mongocrypt_document_end(void);
    """
)

# Length of a document, in bytes, from which its fields are decrypted together: of four or so.
_LEAST = 400

_replaced = {}


def install(library=None, *, documents=True):
    """Makes every MongoCrypt that is made from now on use lanelock.

    :Parameters:
      - `library`: Path of liblanelock_mongocrypt.so.0; without it the one that the environment
        variable LANELOCK_MONGOCRYPT_LIB names, the one beside this module, or the system's.
      - `documents`: Whether the fields of a document are decrypted together.
    """
    uninstall()
    native = _own.dlopen(_path(library))
    # A libmongocrypt that could not be loaded, or is too old, says so here.
    errors = ffi.cast("uintptr_t", lib.mongocrypt_status_set)
    native.lanelock_mongocrypt_errors(_own.cast("void *", int(errors)))
    for name, kind, symbol in _HOOKS:
        address = _own.cast("uintptr_t", _own.addressof(native, symbol))
        _replace(name, ffi.cast(kind, int(address)))
    if getattr(lib, "mongocrypt_is_crypto_available", bool)():
        _replace("lib", _without_crypto())
    if documents:
        _replace("DecryptionContext", _decryption_context(native))


def uninstall():
    """Undoes install, for every MongoCrypt that is made from now on."""
    for name, value in _replaced.items():
        setattr(mongocrypt, name, value)
    _replaced.clear()


def _path(library):
    library = library or os.environ.get("LANELOCK_MONGOCRYPT_LIB")
    if library:
        return os.fspath(library)
    name = "liblanelock_mongocrypt.so.0"
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    return beside if os.path.exists(beside) else name


def _replace(name, value):
    _replaced[name] = getattr(mongocrypt, name)
    setattr(mongocrypt, name, value)


def _without_crypto():
    """The library as pymongocrypt sees it, but for what says that it needs no hooks."""
    names = types.SimpleNamespace()
    for name in dir(lib):
        # What the header has and an older library has not.
        try:
            setattr(names, name, getattr(lib, name))
        except AttributeError:
            pass
    names.mongocrypt_is_crypto_available = lambda: False
    return names


def _decryption_context(native):
    begin = native.lanelock_mongocrypt_document_begin
    end = native.lanelock_mongocrypt_document_end
    from_buffer = _own.from_buffer

    class DecryptionContext(mongocrypt.DecryptionContext):
        __slots__ = ("_document",)

        def __init__(self, ctx, kms_providers, command):
            super().__init__(ctx, kms_providers, command)
            self._document = command

        def finish(self):
            if len(self._document) < _LEAST:
                return super().finish()
            # Here is where fields are decrypted, without a turn of an event loop in between.
            begin(from_buffer(self._document), len(self._document))
            try:
                return super().finish()
            finally:
                end()

    return DecryptionContext
