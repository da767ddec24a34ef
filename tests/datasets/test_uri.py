# SPDX-License-Identifier: MIT
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import BenchmarkInitError


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("cbench-v1/qsort", "benchmark://cbench-v1/qsort"),
        ("benchmark://cbench-v1/qsort", "benchmark://cbench-v1/qsort"),
        ("BENCHMARK://cbench-v1/qsort", "benchmark://cbench-v1/qsort"),
        ("cbench-v1", "benchmark://cbench-v1"),
        ("generator://csmith-v0/3", "generator://csmith-v0/3"),
        ("file:///tmp/a b.c", "file:///tmp/a%20b.c"),
        ("npb-v0/a?b=2&a=1", "benchmark://npb-v0/a?a=1&b=2"),
        ("npb-v0/a?b=2&a=1&b=1", "benchmark://npb-v0/a?a=1&b=2&b=1"),
        ("npb-v0/a?flag=", "benchmark://npb-v0/a?flag="),
        ("npb-v0/a#part", "benchmark://npb-v0/a#part"),
        ("npb-v0/a?x=http://b", "benchmark://npb-v0/a?x=http%3A%2F%2Fb"),
        ("npb-v0/http://b", "benchmark://npb-v0/http://b"),
    ],
)
def test_equal_addresses_have_one_canonical_form(text: str, canonical: str) -> None:
    assert BenchmarkUri.canonicalize(text) == canonical
    assert BenchmarkUri.canonicalize(canonical) == canonical
    assert BenchmarkUri.from_string(text) == BenchmarkUri.from_string(canonical) == canonical


def test_the_parts_of_an_address_are_decoded() -> None:
    uri = BenchmarkUri.from_string("generator://d-v2/a%3Fb/c?goal=speed&goal=size#f%20g")
    assert (uri.scheme, uri.dataset, uri.path) == ("generator", "d-v2", "/a?b/c")
    assert uri.params == {"goal": ("speed", "size")}
    assert uri.parameters == {"goal": "size"}
    assert uri.fragment == "f g"
    assert uri.dataset_name == "generator://d-v2"


def test_a_file_address_has_no_dataset() -> None:
    uri = BenchmarkUri.from_string("file:///abs/path.c")
    assert (uri.scheme, uri.dataset, uri.path) == ("file", "", "/abs/path.c")


@pytest.mark.parametrize(
    "text", ["", "/", "/x", "benchmark://", "benchmark:///x", "a b/c", "1x://a/b"]
)
def test_text_that_names_no_dataset_is_refused(text: str) -> None:
    with pytest.raises(BenchmarkInitError, match="not a benchmark URI"):
        BenchmarkUri.from_string(text)


def test_a_number_is_not_an_address() -> None:
    with pytest.raises(BenchmarkInitError, match="got int"):
        BenchmarkUri.from_string(3)  # pyright: ignore[reportArgumentType]


def test_an_address_cannot_be_changed() -> None:
    uri = BenchmarkUri.from_string("a-v0/b?c=d")
    with pytest.raises(AttributeError, match="path"):
        uri.path = "/x"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match="item assignment"):
        uri.params["c"] = ("e",)  # pyright: ignore[reportIndexIssue]


_NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", fullmatch=True)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(_NAMES, _TEXT, st.dictionaries(_TEXT, st.lists(_TEXT, min_size=1), max_size=3), _TEXT)
def test_an_address_survives_text_and_pickle(
    dataset: str, path: str, params: dict[str, list[str]], fragment: str
) -> None:
    uri = BenchmarkUri(
        "benchmark", dataset, path, {k: tuple(v) for k, v in params.items()}, fragment
    )
    again = BenchmarkUri.from_string(str(uri))
    assert again == uri
    assert hash(again) == hash(uri)
    assert (again.path, again.params, again.fragment) == (uri.path, uri.params, uri.fragment)
    assert pickle.loads(pickle.dumps(uri)) == uri


@given(st.binary(min_size=1))
def test_a_name_that_is_not_utf8_keeps_its_bytes(name: bytes) -> None:
    path = "/" + name.decode("utf-8", "surrogateescape")
    again = BenchmarkUri.from_string(str(BenchmarkUri("benchmark", "x-v0", path)))
    assert again.path.encode("utf-8", "surrogateescape") == b"/" + name
