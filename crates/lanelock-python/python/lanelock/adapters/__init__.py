"""lanelock in other programs: :mod:`~lanelock.adapters.polars`, :mod:`~lanelock.adapters.duckdb`,
:mod:`~lanelock.adapters.pandas`, :mod:`~lanelock.adapters.spark` and :mod:`~lanelock.adapters.ray`.

Each imports its program only when it is imported itself.
"""
