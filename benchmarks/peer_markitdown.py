"""Convert a file with markitdown again and again; print the best CPU seconds and how many characters came out.

Run by conversion.py in an environment of its own.
"""

import io
import json
import logging
import sys
import time
from pathlib import Path

from markitdown import MarkItDown  # type: ignore[import-not-found,unused-ignore]

logging.disable()
path, times = Path(sys.argv[1]), int(sys.argv[2])
data, converter, best, text = path.read_bytes(), MarkItDown(), float("inf"), ""
for _ in range(times):
    start = time.process_time()
    text = converter.convert_stream(io.BytesIO(data), file_extension=path.suffix).markdown
    best = min(best, time.process_time() - start)
print(json.dumps({"seconds": best, "characters": len(text)}))
