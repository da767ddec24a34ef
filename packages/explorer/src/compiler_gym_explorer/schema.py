# SPDX-License-Identifier: MIT
"""The OpenAPI document of the API, generated from routes and records; the front end uses it.

``python -m compiler_gym_explorer.schema`` writes ``schema.json`` to this folder; a test
checks that it is up to date.
"""

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym_explorer import records
from compiler_gym_explorer.routes import ROUTES, Parameter, Route

__all__ = ["SCHEMA_FILE", "schema", "schema_text"]

SCHEMA_FILE = Path(__file__).with_name("schema.json")
"""The committed document."""
_REFERENCES = "#/components/schemas/{name}"
_JSON_TYPES: dict[type, str] = {str: "string", int: "integer", bool: "boolean", float: "number"}
_PATH_TYPES = {"node": "integer"}


def schema() -> dict[str, Any]:
    """Return the OpenAPI document."""
    types: list[Any] = [kind for kind in dict.fromkeys(_types()) if kind is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCES)
    by_type = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "The explorer of compiler_gym",
            "version": "1",
            "description": "Every request except for the page itself needs the token from the "
            "address that `compiler-gym web` prints: as `Authorization: Bearer TOKEN`, or as "
            "`?token=TOKEN` if a header cannot be set.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {name: _clean_schema(body) for name, body in sorted(components.items())},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def schema_text() -> str:
    """Return the text of the committed document."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"


def _types() -> list[Any]:
    return [
        records.Problem,
        *(route.answer for route in ROUTES),
        *(route.body for route in ROUTES),
    ]


def _operation(route: Route, by_type: dict[Any, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": route.summary}
    if route.answer is not None:
        media = "text/event-stream" if route.is_stream else "application/json"
        answer["content"] = {media: {"schema": by_type[route.answer]}}
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [
            *map(_in_path, re.findall(r"{(\w+)}", route.path)),
            *map(_in_query, route.query),
        ],
        "responses": {
            str(route.status): answer,
            "default": {
                "description": "The reason why the request failed.",
                "content": {"application/json": {"schema": by_type[records.Problem]}},
            },
        },
    }
    if route.body is not None:
        body = {"application/json": {"schema": by_type[route.body]}}
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _in_path(name: str) -> dict[str, Any]:
    kind = _PATH_TYPES.get(name, "string")
    return {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _in_query(parameter: Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": _JSON_TYPES[parameter.type]}
    if parameter.default is not None:
        kind["default"] = parameter.default
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.description,
        "schema": kind,
    }


def _clean_schema(component: dict[str, Any]) -> dict[str, Any]:
    """Return a record's schema without the title, which is the Python class name."""
    return {key: value for key, value in component.items() if key != "title"}


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
