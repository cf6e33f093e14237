"""``python -m lanelock``: columns of Parquet and CSV files."""

import sys

from ._command import main

sys.exit(main())
