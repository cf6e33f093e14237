"""A column of a pandas frame encrypted, decrypted and pseudonymised."""

import pandas as pd

import lanelock
import lanelock.adapters.pandas  # registers Series.lanelock

aead = lanelock.Aead("aes-256-gcm-siv", lanelock.random_key())
mac = lanelock.Mac("hmac-sha256", lanelock.random_key(), length=8, encoding="hex", prefix="user_")

frame = pd.DataFrame({"id": [1, 2, 3], "email": ["ann@example.org", None, "cem@example.org"]})
frame["sealed"] = frame["email"].lanelock.encrypt(aead, b"users.email")
frame["pseudonym"] = frame["email"].lanelock.compute(mac)
frame["back"] = frame["sealed"].lanelock.decrypt(aead, b"users.email", type="string")
print(frame[["id", "pseudonym", "back"]])
assert frame["back"].dropna().tolist() == ["ann@example.org", "cem@example.org"]
assert frame["sealed"].isna().tolist() == [False, True, False]
