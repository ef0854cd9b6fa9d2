"""One `pagoda serve` with the embedded model for all tests, and the official clients for it."""

import anthropic
import openai
import pytest
from served import LONG, MODEL, PROGRAM, ROOT, Server, free_port, server, user, wait_for  # noqa: F401: for the tests

pytest.register_assert_rewrite("chat_page")  # its fixtures assert too


@pytest.fixture(scope="session")
def openai_client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=300)


@pytest.fixture(scope="session")
def anthropic_client(server):
    return anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=300)
