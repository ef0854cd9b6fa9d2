"""One `pagoda serve` for clients that need other package versions than those pinned by Tests/ServerPython."""
import gc
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ServerPython"))
from served import MODEL, Server, server, user  # noqa: E402, F401: for the tests


@pytest.fixture(autouse=True)
def streams_are_collected_between_tests():
    """litellm does not read streams to their end. When the collector frees one while httpx holds the lock of its connections, the
    request waits for that lock forever, because closing the stream takes it too."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()
