"""One `pagoda serve` for clients that need other package versions than those pinned by Tests/ServerPython."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ServerPython"))
from served import MODEL, Server, server, user  # noqa: E402, F401: for the tests
