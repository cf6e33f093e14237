"""SQL functions of DuckDB: two tables joined on a deterministically encrypted column."""

import duckdb

import lanelock
from lanelock.adapters.duckdb import register

connection = duckdb.connect()
register(
    connection,
    lanelock.Aead("aes-siv", lanelock.random_key(64)),
    encrypt="seal",
    decrypt="unseal",
)
connection.sql("CREATE TABLE users AS SELECT 1 AS id, seal('ann@example.org'::BLOB) AS email")
connection.sql("CREATE TABLE orders AS SELECT 70 AS number, seal('ann@example.org'::BLOB) AS email")
rows = connection.sql(
    "SELECT id, number, decode(unseal(email)) FROM users JOIN orders USING (email)"
).fetchall()
print(rows)
assert rows == [(1, 70, "ann@example.org")]
