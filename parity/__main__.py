"""Command ``python -m parity DIRECTORY``: exit status 1 if a recording differs, 2 if none can be read."""

import sys
from pathlib import Path

from rich.console import Console

from parity import run_parity

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m parity DIRECTORY")
    try:
        sys.exit(run_parity(Path(sys.argv[1]), Console(soft_wrap=True, highlight=False)))
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
