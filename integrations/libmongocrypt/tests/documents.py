"""pymongocrypt with lanelock beside pymongocrypt as it is: the same bytes, the same errors.

Without lanelock is pymongocrypt's own cryptography in Python or, where PYMONGOCRYPT_LIB names a
libmongocrypt with cryptography, that one's.
"""

import asyncio
import hashlib
import unittest
from concurrent.futures import ThreadPoolExecutor

import bson
import lanelock_mongocrypt
import server
from bson.binary import Binary
from pymongocrypt.asynchronous.auto_encrypter import AsyncAutoEncrypter
from pymongocrypt.asynchronous.state_machine import AsyncMongoCryptCallback
from pymongocrypt.binding import lib, libmongocrypt_version
from pymongocrypt.errors import MongoCryptError
from pymongocrypt.options import MongoCryptOptions
from pymongocrypt.synchronous.auto_encrypter import AutoEncrypter
from vault import DETERMINISTIC, OPTIONS, RANDOM, Crypt, Vault

MODES = {
    "as it is": lanelock_mongocrypt.uninstall,
    "hooks": lambda: lanelock_mongocrypt.install(documents=False),
    "documents": lanelock_mongocrypt.install,
}


def material(number):
    """The 96 bytes of a data key."""
    return b"".join(hashlib.sha256(bytes([number, part])).digest() for part in range(3))


def text(number):
    return f"value {number:04}" + "." * (number % 40 if number % 3 == 0 else 0)


def outcome(crypt, document):
    """The decrypted document, or the text of the error."""
    try:
        return crypt.decrypt(document)
    except MongoCryptError as error:
        return str(error)


class Documents(unittest.TestCase):
    def setUp(self):
        lanelock_mongocrypt.uninstall()
        self.vault = Vault()
        self.crypt = Crypt(self.vault)
        self.keys = [self.crypt.new_key(material(number)) for number in range(3)]

    def tearDown(self):
        self.crypt.close()
        lanelock_mongocrypt.uninstall()

    def in_each_mode(self):
        for name, enter in MODES.items():
            enter()
            crypt = Crypt(self.vault)
            with self.subTest(name):
                yield name, crypt
            crypt.close()

    def value(self, kind, number, crypt=None):
        """Field number so and so, encrypted."""
        crypt = crypt or self.crypt
        key = number % 3
        if kind in (DETERMINISTIC, RANDOM, "Unindexed"):
            return crypt.encrypt(text(number), kind, self.keys[key])
        if kind == "insert":
            return crypt.encrypt(text(number), "Indexed", self.keys[key], contention_factor=4)
        make = {
            "unindexed": server.unindexed,
            "equality": server.indexed,
            "range": lambda *value: server.indexed(*value, edges=3),
        }[kind]
        return make(self.keys[key], material(key), text(number))

    KINDS = (DETERMINISTIC, RANDOM, "Unindexed", "insert", "unindexed", "equality", "range")

    def document(self, kind, count, crypt=None):
        """Encrypted and plain; as a reply of the server has them, in an array of documents."""

        def kind_of(number):
            return self.KINDS[number % len(self.KINDS)] if kind == "all" else kind

        encrypted = {f"key{n:04}": self.value(kind_of(n), n, crypt) for n in range(count)}
        plain = {f"key{n:04}": text(n) for n in range(count)}

        def reply(fields):
            return bson.encode({"cursor": {"firstBatch": [fields, {"a": 1}]}, "ok": 1})

        return reply(encrypted), reply(plain)

    def test_documents_of_any_size(self):
        cases = [
            self.document(kind, count)
            for kind in (*self.KINDS, "all")
            for count in (1, 2, 100, 1500)
            if count < 1500 or kind in (DETERMINISTIC, "equality", "all")
        ]
        for _, crypt in self.in_each_mode():
            for encrypted, plain in cases:
                self.assertEqual(crypt.decrypt(encrypted), plain)

    def test_what_is_encrypted_with_hooks(self):
        expected = None
        for _, crypt in self.in_each_mode():
            deterministic = self.document(DETERMINISTIC, 100, crypt)
            query = [
                crypt.encrypt(
                    text(n), "Indexed", self.keys[0], query_type="equality", contention_factor=2
                )
                for n in range(3)
            ]
            if expected is None:
                expected = deterministic, query
            self.assertEqual((deterministic, query), expected)
            for kind in (RANDOM, "Unindexed", "insert"):
                encrypted, plain = self.document(kind, 30, crypt)
                self.assertNotEqual(encrypted, self.document(kind, 30, crypt)[0])
                # Decrypted by what was made before lanelock was installed.
                self.assertEqual(self.crypt.decrypt(encrypted), plain)

    def test_the_document_answers(self):
        answered = []
        lanelock_mongocrypt.install(documents=False)
        native = lanelock_mongocrypt._own.dlopen(lanelock_mongocrypt._path(None))
        crypt = Crypt(self.vault)
        for kind in (DETERMINISTIC, "Unindexed", "unindexed", "equality", "range"):
            encrypted, plain = self.document(kind, 90)
            crypt.decrypt(encrypted)
            # The keys are in libmongocrypt's cache now.
            with crypt.mongocrypt.decryption_context(encrypted) as ctx:
                native.lanelock_mongocrypt_document_begin(encrypted, len(encrypted))
                self.assertEqual(ctx.finish(), plain)
                answered.append(native.lanelock_mongocrypt_document_end())
        crypt.close()
        # MAC and cipher of each, and of indexed ones the server's cipher.
        self.assertEqual(answered, [180, 180, 180, 270, 270])

    def test_damaged_fields(self):
        damaged = []
        for kind in self.KINDS:
            values = [bytes(self.value(kind, number)) for number in range(3)]
            for victim in (0, 2):
                length = len(values[victim])
                # Every byte of the header, and some of the rest.
                for at in [*range(20), *range(20, length, 9), length - 1]:
                    changed = bytearray(values[victim])
                    changed[at] ^= 0x10
                    damaged.append([*values[:victim], bytes(changed), *values[victim + 1 :]])
                for cut in [*range(1, min(length, 70), 5), length - 16, length - 1]:
                    damaged.append([*values[:victim], values[victim][:cut], *values[victim + 1 :]])
        documents = [
            bson.encode({str(n): Binary(value, 6) for n, value in enumerate(values)})
            for values in damaged
        ]
        expected = None
        for _, crypt in self.in_each_mode():
            outcomes = [outcome(crypt, document) for document in documents]
            if expected is None:
                expected = outcomes
                self.assertGreater(sum(isinstance(it, str) for it in outcomes), 100)
            self.assertEqual(outcomes, expected)

    def test_wrong_keys(self):
        encrypted, _ = self.document(DETERMINISTIC, 10)
        other = Vault()
        theirs = Crypt(other)
        for number, identifier in enumerate(self.keys):
            wrong = bson.decode(other.keys[theirs.new_key(material(50 + number))])
            wrong["_id"] = Binary(identifier, 4)
            other.keys[identifier] = bson.encode(wrong)
        self.vault = other
        outcomes = [outcome(crypt, encrypted) for _, crypt in self.in_each_mode()]
        self.assertEqual(outcomes, ["HMAC validation failure"] * 3)
        other.keys.clear()
        outcomes = {outcome(crypt, encrypted) for _, crypt in self.in_each_mode()}
        self.assertEqual(len(outcomes), 1)
        theirs.close()

    def test_threads(self):
        cases = [self.document(kind, 60) for kind in (DETERMINISTIC, "equality", "all")]
        for _, crypt in self.in_each_mode():

            def often(first, crypt=crypt):
                for turn in range(20):
                    encrypted, plain = cases[(first + turn) % len(cases)]
                    if crypt.decrypt(encrypted) != plain:
                        return False
                return True

            for count in (2, 8):
                with ThreadPoolExecutor(count) as threads:
                    self.assertTrue(all(threads.map(often, range(count))))

    def test_automatic_decryption(self):
        encrypted, plain = self.document("all", 50)
        for _, crypt in self.in_each_mode():
            auto = AutoEncrypter(self.vault, MongoCryptOptions(OPTIONS))
            self.assertEqual(auto.decrypt(encrypted), plain)
            # What has nothing encrypted in it.
            self.assertEqual(auto.decrypt(plain), plain)
            auto.close()

    def test_tasks_that_take_turns(self):
        cases = [self.document(DETERMINISTIC, count) for count in (10, 20, 30)]
        vault = self.vault

        class Callback(AsyncMongoCryptCallback):
            async def fetch_keys(self, filter):
                for key in vault.fetch_keys(filter):
                    await asyncio.sleep(0)
                    yield key

            def bson_encode(self, doc):
                return bson.encode(doc)

            async def close(self):
                pass

            kms_request = collection_info = mark_command = insert_data_key = None

        async def decrypt_all():
            auto = AsyncAutoEncrypter(Callback(), MongoCryptOptions(OPTIONS))
            decrypted = await asyncio.gather(*(auto.decrypt(case) for case, _ in cases * 3))
            await auto.close()
            return decrypted

        for _, crypt in self.in_each_mode():
            self.assertEqual(asyncio.run(decrypt_all()), [plain for _, plain in cases * 3])


if __name__ == "__main__":
    crypto = "with" if lib.mongocrypt_is_crypto_available() else "without"
    print(f"libmongocrypt {libmongocrypt_version()} {crypto} cryptography", flush=True)
    unittest.main()
