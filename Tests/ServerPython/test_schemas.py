"""Objects of public web APIs as schemas of an answer: at least 95 of 100 can be enforced, and the others are refused by name."""
import concurrent.futures
import sys

import requests
from conftest import ROOT, user

sys.path.insert(0, str(ROOT / "Tools/fixtures"))
from make_api_schemas import schemas  # noqa: E402


def test_schemas_of_public_apis_can_be_enforced(server):
    entries = list(schemas((ROOT / "Tools/fixtures/api_schemas.txt").read_text().splitlines()))
    assert len(entries) >= 300 and len({entry["name"] for entry in entries}) == len(entries)

    def ask(entry):
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": entry["schema"], "strict": True}}
        body = {"messages": user("Hello!"), "max_tokens": 1, "response_format": form}
        return requests.post(server.url + "/v1/chat/completions", json=body)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = dict(zip([entry["name"] for entry in entries], pool.map(ask, entries)))
    refused = {name: answer.json()["error"]["message"] for name, answer in answers.items() if answer.status_code == 400}
    assert all(answer.status_code in (200, 400) for answer in answers.values())
    assert len(refused) <= len(entries) * 0.05, refused
    assert all("schema" in reason for reason in refused.values()), refused
