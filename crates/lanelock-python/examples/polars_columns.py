"""Columns of a polars frame encrypted, decrypted and pseudonymised by expressions."""

import polars as pl

import lanelock
import lanelock.adapters.polars  # registers pl.col(...).lanelock

aead = lanelock.Aead("aes-256-gcm-siv", lanelock.random_key())
mac = lanelock.Mac("hmac-sha256", lanelock.random_key(), length=8, encoding="hex", prefix="user_")

frame = pl.DataFrame({"id": [1, 2, 3], "email": ["ann@example.org", None, "cem@example.org"]})
email = pl.col("email")
sealed = frame.lazy().with_columns(email.lanelock.encrypt(aead, b"users.email"))
sealed = sealed.with_columns(email.lanelock.decrypt(aead, b"users.email", type="string").alias("back"))
sealed = sealed.with_columns(pl.col("back").lanelock.compute(mac).alias("pseudonym"))
result = sealed.collect()
print(result)
assert result["back"].to_list() == frame["email"].to_list()
