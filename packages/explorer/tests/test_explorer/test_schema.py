# SPDX-License-Identifier: MIT
"""The committed schema is the one that the code makes, and says the truth about answers."""

import re
from typing import Any

from compiler_gym_explorer.routes import ROUTES
from compiler_gym_explorer.schema import SCHEMA_FILE, schema, schema_text

from .conftest import Session


def test_the_committed_schema_is_fresh() -> None:
    assert SCHEMA_FILE.read_text() == schema_text(), (
        "the API has changed: run python -m compiler_gym_explorer.schema"
    )


def test_every_reference_leads_somewhere_and_every_name_is_given_once() -> None:
    document = schema()
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(re.findall(r"#/components/schemas/\w+", schema_text())) <= known
    ids = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(set(ids)) == len(ids) == len(ROUTES)


def test_answers_have_the_fields_that_the_schema_requires(crc: Session) -> None:
    schemas = schema()["components"]["schemas"]
    record = crc.get("")
    assert set(record) == set(schemas["Session"]["properties"])
    assert set(record["nodes"][0]) == set(schemas["Node"]["required"])
    found: dict[str, Any] = crc.client.get("/api/environments/llvm-v0")
    assert set(found) == set(schemas["Environment"]["required"])
