# SPDX-License-Identifier: MIT
"""The schema and the recorded episode are those of the messages."""

import json

import msgspec
import pytest

from compiler_gym.service.messages import decode_reply, decode_request
from docs.session_protocol_page import sdk_files, session_protocol_page


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return {path.name: text for path, text in sdk_files()}


def test_the_files_are_up_to_date() -> None:
    for path, text in sdk_files():
        assert path.read_text() == text, "run `python -m docs.generate`"


def test_the_schema_knows_every_message(made: dict[str, str]) -> None:
    schema = json.loads(made["session-v1.schema.json"])
    kinds = {one["$ref"].rpartition("/")[2] for one in schema["oneOf"]}
    assert {"Hello", "Start", "Step", "Description", "Stepped", "Failed"} <= kinds
    assert all(kind in schema["$defs"] for kind in kinds)


def test_the_recorded_episode_is_of_messages_that_can_be_read(made: dict[str, str]) -> None:
    rows = [json.loads(line) for line in made["episode-v1.jsonl"].splitlines()]
    for row in rows:
        data = bytes.fromhex(row["bytes"])
        (decode_request if row["from"] == "client" else decode_reply)(data)
        assert msgspec.to_builtins(msgspec.msgpack.decode(data)) == row["message"]
    assert [row["message"][0] for row in rows[1::2]] == [17, 18, 19, 19, 23, 22, 23]


def test_the_page_has_every_request_and_what_a_field_means() -> None:
    page = session_protocol_page()
    for title in ("### 1: Start", "### 7: Hello", "### 23: Failed", "### `scalar`, a space"):
        assert title in page
    assert "| `capabilities` | list of text | `[]` | Optional abilities of the client" in page
