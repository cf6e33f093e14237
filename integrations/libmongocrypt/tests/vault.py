"""Data keys in memory, and MongoCrypt objects that use them."""

import bson
from pymongocrypt.mongocrypt import MongoCrypt
from pymongocrypt.options import DataKeyOpts, MongoCryptOptions
from pymongocrypt.synchronous.explicit_encrypter import ExplicitEncrypter
from pymongocrypt.synchronous.state_machine import MongoCryptCallback, run_state_machine

DETERMINISTIC = "AEAD_AES_256_CBC_HMAC_SHA_512-Deterministic"
RANDOM = "AEAD_AES_256_CBC_HMAC_SHA_512-Random"

OPTIONS = {"local": {"key": bytes(range(96))}}


class Vault(MongoCryptCallback):
    """Data keys by their identifiers."""

    def __init__(self):
        self.keys = {}

    def fetch_keys(self, filter):
        for wanted in bson.decode(filter)["$or"][0]["_id"]["$in"]:
            if bytes(wanted) in self.keys:
                yield self.keys[bytes(wanted)]

    def insert_data_key(self, data_key):
        identifier = bson.decode(data_key)["_id"]
        self.keys[bytes(identifier)] = data_key
        return identifier

    def bson_encode(self, doc):
        return bson.encode(doc)

    def kms_request(self, kms_context):
        raise NotImplementedError

    def collection_info(self, database, filter):
        raise NotImplementedError

    def mark_command(self, database, cmd):
        raise NotImplementedError

    def close(self):
        pass


class Crypt:
    """A MongoCrypt, as it is installed at the moment."""

    def __init__(self, vault):
        self.vault = vault
        options = MongoCryptOptions(OPTIONS)
        self.mongocrypt = MongoCrypt(options, vault)
        self.encrypter = ExplicitEncrypter(vault, options)

    def new_key(self, material):
        """The identifier of a new data key with these 96 bytes."""
        options = DataKeyOpts(key_material=bson.encode({"keyMaterial": material}))
        context = self.mongocrypt.data_key_context("local", options)
        with context as ctx:
            document = run_state_machine(ctx, self.vault)
        return bytes(self.vault.insert_data_key(document))

    def encrypt(self, value, algorithm, key_id, **options):
        """The encrypted value, as it stands in documents."""
        encoded = bson.encode({"v": value})
        encrypted = self.encrypter.encrypt(encoded, algorithm, key_id=key_id, **options)
        return bson.decode(encrypted)["v"]

    def decrypt(self, document):
        with self.mongocrypt.decryption_context(document) as ctx:
            return run_state_machine(ctx, self.vault)

    def close(self):
        self.mongocrypt.close()
        self.encrypter.close()
