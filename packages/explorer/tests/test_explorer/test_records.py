# SPDX-License-Identifier: MIT
import inspect

import msgspec
import pytest

from compiler_gym_explorer import records

EVERY = [
    kind
    for kind in vars(records).values()
    if inspect.isclass(kind) and issubclass(kind, msgspec.Struct) and kind is not msgspec.Struct
]


@pytest.mark.parametrize("kind", EVERY)
def test_a_record_cannot_be_changed_and_says_what_it_is(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__doc__


def test_requests_say_little_and_unknown_values_are_refused() -> None:
    assert msgspec.json.decode(b"{}", type=records.NewSession) == records.NewSession()
    with pytest.raises(msgspec.ValidationError, match="Expected"):
        msgspec.json.decode(b'{"node": "x"}', type=records.NewSearch)
