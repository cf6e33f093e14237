"""The examples, and the code of the page."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest

import lanelock

HERE = pathlib.Path(__file__).parent.parent
EXAMPLES = sorted(path.name for path in (HERE / "examples").glob("*.py"))
BLOCKS = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)
EMAILS = [f"user{n}@example.org" if n % 7 else None for n in range(3000)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name):
    path = HERE / "examples" / name
    for module in re.findall(r"^import (ray)$|^from (pyspark)", path.read_text(), re.MULTILINE):
        pytest.importorskip("".join(module), reason="not installed (requirements-clusters.txt)")
    subprocess.run([sys.executable, str(path)], check=True)


def page(fragment, folder, monkeypatch, **names):
    """Runs the one block of the page that has `fragment`; returns its names."""
    [block] = [block for block in BLOCKS if fragment in block]
    monkeypatch.chdir(folder)
    names.update(lanelock=lanelock, pa=pa)
    exec(compile(block, "README.md", "exec"), names)
    return names


def test_the_first_block_of_the_page(tmp_path, monkeypatch):
    table = {"email": pa.array(EMAILS)}
    names = page('type="string"))', tmp_path, monkeypatch, key=bytes(32), table=table)
    assert names["emails"].to_pylist() == EMAILS


def test_the_recipe_of_a_parquet_file(tmp_path, monkeypatch):
    pq.write_table(pa.table({"id": range(3000), "email": EMAILS}), tmp_path / "users.parquet")
    key = tmp_path / "column.key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    names = page("ParquetWriter", tmp_path, monkeypatch)
    sealed = pq.read_table(tmp_path / "sealed.parquet")
    assert sealed.schema.field("email").type == pa.binary() and sealed["id"].to_pylist() == list(range(3000))
    opened = names["aead"].decrypt(sealed["email"], aad=b"users.email", type="string")
    assert opened.to_pylist() == EMAILS


def test_the_recipe_of_a_join(tmp_path, monkeypatch):
    left = pa.table({"number": range(3000), "email": EMAILS})
    right = pa.table({"order": range(0, 6000, 2), "email": EMAILS[::-1]})
    names = page("joined = ", tmp_path, monkeypatch, key=os.urandom(64), left=left, right=right)
    joined = names["joined"]
    assert "email" not in joined.column_names
    matched = joined.filter(pa.compute.is_valid(joined["id"]))
    rows = zip(matched["number"].to_pylist(), matched["order"].to_pylist())
    assert sorted(rows) == [(n, 2 * (2999 - n)) for n in range(3000) if EMAILS[n]]


def test_the_recipe_of_pseudonyms(tmp_path, monkeypatch):
    table = pa.table({"email": pa.array([*EMAILS, *EMAILS])})
    names = page("pseudonyms = ", tmp_path, monkeypatch, key=os.urandom(32), table=table)
    pseudonyms = names["pseudonyms"].to_pylist()
    assert pseudonyms[:3000] == pseudonyms[3000:]
    assert all((p is None) == (e is None) for p, e in zip(pseudonyms, EMAILS))
    assert len(set(pseudonyms)) == len(set(EMAILS))
