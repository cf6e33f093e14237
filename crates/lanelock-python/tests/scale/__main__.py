"""``make scale``: a Parquet data set through PySpark and Ray Data, each on a cluster of two workers.

Three columns are encrypted: two with random nonces, one deterministically. Then the data set is joined with
itself on the encrypted column, decrypted, and compared. Once a worker is killed while it writes; the engine
runs its tasks again, no row is lost, none is there twice, and no nonce is used twice in all output.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import sys
import tempfile

import dataset


def main() -> int:
    parser = argparse.ArgumentParser(prog="scale", description=__doc__)
    parser.add_argument("--size", type=float, default=1.0, help="GB of the data set (default: 1)")
    parser.add_argument("--files", type=int, default=64, help="its files (default: 64)")
    parser.add_argument("--engines", default="spark,ray", help="of spark, ray (default: both)")
    parser.add_argument("--folder", help="where the data are kept (default: that of temporary files)")
    options = parser.parse_args()
    engines = options.engines.split(",")
    if unknown := set(engines) - {"spark", "ray"}:
        parser.error(f"--engines {', '.join(unknown)}; allowed: spark, ray")
    with tempfile.TemporaryDirectory(prefix="lanelock-scale-", dir=options.folder) as name:
        folder = pathlib.Path(name)
        rows = dataset.make(folder / "plain", int(options.size * 1e9), options.files)
        size = dataset.size(folder / "plain")
        print(f"{rows:,} rows in {options.files} Parquet files, {size / 1e9:.2f} GB", flush=True)
        for engine in engines:
            with tempfile.TemporaryDirectory(prefix=f"{engine}-", dir=folder) as own:
                module = importlib.import_module(f"on_{engine}")
                module.run(pathlib.Path(own), folder / "plain", rows, options.files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
