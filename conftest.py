"""The project's pytest layer: options, fixtures and the collector of C tests. See harness/orchestrate/pytest_plugin.py."""

import sys
from pathlib import Path

if (root := str(Path(__file__).resolve().parent)) not in sys.path:
    sys.path.insert(0, root)

pytest_plugins = ["harness.orchestrate.pytest_plugin"]
