# SPDX-License-Identifier: MIT
"""Serialisation of run specifications, for sending them to a worker.

The records of `run_spec` become MessagePack arrays of their fields, in order.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, get_type_hints

from msgspec import msgpack

from compiler_gym.datasets.running.run_spec import ExpectedOutput, RunCase, RunSpec


def pack_run(spec: RunSpec) -> bytes:
    """Return `spec` as bytes, including input files; this creates every case.

    >>> unpack_run(pack_run(RunSpec.single(argv=("7",)))).cases[0].argv
    ('7',)
    """
    cases = [_pack_record(case) for case in spec.cases]
    return msgpack.encode((cases, spec.link, spec.time_limit), enc_hook=_pack_value)


@lru_cache(maxsize=8)
def unpack_run(data: bytes) -> RunSpec:
    """Return the specification that `pack_run` encoded; raise `ValueError` for other bytes."""
    cases, link, time_limit = _decoder.decode(data)
    return RunSpec(tuple(map(_pack_case, cases)), link=link, time_limit=time_limit)


def _pack_record(record: RunCase | ExpectedOutput) -> list[Any]:
    values = (getattr(record, field.name) for field in fields(record))
    return [_pack_record(value) if isinstance(value, ExpectedOutput) else value for value in values]


def _pack_value(value: object) -> Any:
    """Return a MessagePack equivalent of a value that MessagePack cannot encode."""
    if isinstance(value, Path):
        return value.read_bytes()
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]  # any mapping
    raise TypeError(f"a run specification cannot contain {value!r}")


def _pack_case(row: tuple[Any, ...]) -> RunCase:
    values = {field.name: value for field, value in zip(fields(RunCase), row, strict=True)}
    expected = values.pop("expected")
    return RunCase(expected=None if expected is None else ExpectedOutput(*expected), **values)


_Expected = tuple[*get_type_hints(ExpectedOutput).values()]
_AS_SENT = {"files": dict[str, bytes], "expected": _Expected | None}
"""The fields of a case whose encoded type differs: a file's bytes, not its path."""
_Case = tuple[*(get_type_hints(RunCase) | _AS_SENT).values()]
_Sent: Any = tuple[list[_Case], tuple[str, ...], float]
_decoder: "msgpack.Decoder[Any]" = msgpack.Decoder(_Sent)
