"""Adapters, each in its program, and the examples of all docstrings."""

from __future__ import annotations

import base64
import doctest
import importlib
import os

import pyarrow as pa
import pytest

import lanelock

AEAD = lanelock.Aead("aes-256-gcm-siv", bytes(32))
VALUES = [f"user{n}@example.org" if n % 5 else None for n in range(1000)]


@pytest.mark.parametrize(
    "name",
    ["", "._lanelock", "._keys", ".adapters.polars", ".adapters.duckdb", ".adapters.pandas"],
)
def test_examples_of_docstrings(name, monkeypatch):
    monkeypatch.setenv("COLUMN_KEY", "00" * 32)
    module = importlib.import_module(f"lanelock{name}")
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner()
    objects = [module] if name != "._lanelock" else [lanelock.Aead, lanelock.Mac, lanelock.Hash]
    for item in objects:
        for test in finder.find(item, getattr(item, "__name__", name), globs={}):
            runner.run(test)
    assert runner.failures == 0 and runner.tries > 0


def test_polars_takes_and_gives_columns():
    pl = pytest.importorskip("polars")
    import lanelock.adapters.polars  # noqa: F401

    frame = pl.DataFrame({"email": VALUES})
    sealed = pl.Series(AEAD.encrypt(frame["email"]))
    assert sealed.dtype == pl.Binary
    assert pl.Series(AEAD.decrypt(sealed, type="string")).to_list() == VALUES
    lazy = frame.lazy().with_columns(pl.col("email").lanelock.encrypt(AEAD).alias("sealed"))
    back = lazy.with_columns(pl.col("sealed").lanelock.decrypt(AEAD, type="string")).collect()
    assert back["sealed"].to_list() == VALUES
    mac = lanelock.Mac("hmac-sha256", b"key", encoding="hex")
    both = frame.with_columns(pl.col("email").lanelock.compute(mac).alias("pseudonym"))
    assert both["pseudonym"].to_list() == mac.compute(VALUES).to_pylist()


def test_duckdb_functions():
    duckdb = pytest.importorskip("duckdb")
    from lanelock.adapters.duckdb import register, register_digest

    connection = duckdb.connect()
    register(connection, AEAD, encrypt="seal", decrypt="unseal", aad=b"users")
    register_digest(connection, "pseudonym", lanelock.Mac("hmac-sha256", b"key", encoding="hex"))
    users = pa.table({"email": pa.array([v and v.encode() for v in VALUES], pa.binary())})
    connection.register("users", users)
    rows = connection.sql("SELECT email, unseal(seal(email)), pseudonym(email) FROM users").fetchall()
    assert len(rows) == 1000 and all(email == back for email, back, _ in rows)
    expected = lanelock.Mac("hmac-sha256", b"key", encoding="hex").compute(VALUES).to_pylist()
    assert [pseudonym for *_, pseudonym in rows] == expected
    assert AEAD.decrypt(
        connection.sql("SELECT seal(email) AS sealed FROM users").to_arrow_table()["sealed"],
        aad=b"users",
        type="string",
    ).to_pylist() == VALUES


def test_duckdb_functions_of_text():
    duckdb = pytest.importorskip("duckdb")
    from lanelock.adapters.duckdb import register

    connection = duckdb.connect()
    fernet = lanelock.fernet(base64.urlsafe_b64encode(bytes(32)))
    layouts = {"fernet": fernet, "jwe": lanelock.jwe(bytes(32))}
    for name, aead in layouts.items():
        register(connection, aead, encrypt=f"seal_{name}", decrypt=f"unseal_{name}")
        query = f"SELECT typeof(sealed), unseal_{name}(sealed)"
        query += f" FROM (SELECT seal_{name}('a value'::BLOB) AS sealed)"
        assert connection.sql(query).fetchall() == [("VARCHAR", b"a value")]


def test_pandas_series():
    pd = pytest.importorskip("pandas")
    import lanelock.adapters.pandas  # noqa: F401

    series = pd.Series(VALUES, index=range(1000, 2000), name="email", dtype="string[pyarrow]")
    back = series.lanelock.encrypt(AEAD).lanelock.decrypt(AEAD, type="string")
    assert back.index.equals(series.index) and back.name == "email"
    assert [None if pd.isna(value) else value for value in back] == VALUES


def test_key_references(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_bytes(bytes(range(32)).hex().encode())
    path.chmod(0o600)
    assert lanelock.KeyRef(f"file:{path}").load() == bytes(range(32))
    monkeypatch.setenv("A_KEY", "AAECAwQFBgcICQoLDA0ODw==")
    assert lanelock.KeyRef("env:A_KEY").load() == bytes(range(16))
    assert lanelock.KeyRef("call:os.urandom") != lanelock.KeyRef("env:A_KEY")
    assert len(lanelock.KeyRef("call:lanelock.random_key").load()) == 32
    path.chmod(0o640)
    with pytest.raises(PermissionError, match="mode 0640"):
        lanelock.read_key_file(path)
    for wrong in ("", "env:", "key:abc"):
        with pytest.raises(ValueError, match="allowed: env:NAME"):
            lanelock.KeyRef(wrong)
    os.environ.pop("A_KEY")
    with pytest.raises(ValueError, match="no such variable"):
        lanelock.KeyRef("env:A_KEY").load()
