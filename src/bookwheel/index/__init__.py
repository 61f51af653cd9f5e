"""The index: chunks in, ranked chunks out. No other room knows how it is kept."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads would only wait for each other
