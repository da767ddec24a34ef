# SPDX-License-Identifier: MIT
"""Text becomes a program, and every mistake names its line."""

import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_loop_tool.state.reading import MOST_BYTES, MOST_POINTS, parse_program

MATMUL = """
    dim m 4   # rows
    dim n 5
    dim k 6
    a = read A[m, k]
    b = read B[k, n]
    c = mul a b
    s = sum c [k]
    write s C[m, n]
"""


def test_a_sum_that_is_written_lies_in_the_output() -> None:
    program = parse_program(MATMUL)
    assert [str(s) for s in program.statements] == ["C[m, n] += (A[m, k] * B[k, n])"]
    assert [t.name for t in program.tensors.values()] == ["A", "B", "C"]
    assert program.flops == 2 * 4 * 5 * 6
    assert program.bytes == 4 * (24 + 30 + 20)


def test_a_sum_that_is_used_and_written_is_read_from_the_output() -> None:
    text = MATMUL + "    d = add s s\n    write d D[n, m]"
    first, second = parse_program(text).statements
    assert str(first.out) == "C[m, n]"
    assert str(second) == "D[n, m] = (C[m, n] + C[m, n])"


def test_a_sum_that_is_written_twice_is_copied() -> None:
    statements = parse_program(MATMUL + "    write s E[n, m]").statements
    assert [str(s) for s in statements][1] == "E[n, m] = C[m, n]"


def test_a_kept_value_is_computed_once() -> None:
    text = "dim m 3\na = read A[m]\ne = exp a\nk = keep e\nb = mul k k\nwrite b B[m]"
    assert [str(s) for s in parse_program(text).statements] == [
        "_k[m] = exp(A[m])",
        "B[m] = (_k[m] * _k[m])",
    ]


def test_a_window_has_the_size_that_its_dimensions_need() -> None:
    text = "dim x 5\ndim r 3\na = read A[2*x+r]\ns = sum a [r]\nwrite s B[x]"
    program = parse_program(text)
    assert program.tensors["A"].shape == (11,)
    assert dict(program.statements[0].reads[0].strides) == {"x": 2, "r": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no write"),
        ("dim m 0", "must be a number from 1"),
        ("dim m -1", "must be a number from 1"),
        ("dim m 99999999999999999999999", "must be a number from 1"),
        ("dim m four", "must be a number from 1"),
        ("dim m 4\ndim m 5", "already defined"),
        ("dim m 4\na = read A[z]", "no dimension 'z'; the dimensions are m"),
        ("dim m 4\na = read A[m+m]", "repeats a dimension"),
        ("dim m 4\na = read A[0*m]", "a factor is 0"),
        ("dim m 4\na = read A[m-1]", "not a sum of dimensions"),
        ("dim m 4\na = read A", r"write TENSOR\[dim"),
        ("dim m 4\na = read A[m]\na = read B[m]", "already defined"),
        ("dim m 4\nb = add a a", "'a' is not defined"),
        ("dim m 4\na = read A[m]\nb = add a", "takes 2 values .got 1"),
        ("dim m 4\na = read A[m]\nb = frob a", "use one of read, sum"),
        ("dim m 4\na = read A[m]\nb = mul a [m]", "use sum or max"),
        ("dim m 4\na = read A[m]\nb = sum a [k]", "no dimension 'k'"),
        ("dim m 4\na = read A[m]\nb = sum a []", "list the reduced dimensions"),
        ("dim m 4\na = read A[m]\nwrite a B[]", "each dimension of the value exactly once"),
        ("dim m 4\na = read A[m]\nwrite a A[m]", "written twice, or is also"),
        ("dim m 4\na = read A[m]\nwrite a B[m]\nb = read B[m]", "is used as output"),
        ("dim m 4\nwrite 1 B[]", "no dimensions to loop over"),
        ("what is this", "write dim, target"),
        ("target tpu", "must be cpu or cuda"),
        ("splits 99", "must be a number from 1 to 8"),
    ],
)
def test_a_mistake_is_reported(text: str, message: str) -> None:
    with pytest.raises(BenchmarkInitError, match=message):
        parse_program(text)


def test_a_mistake_names_its_line() -> None:
    with pytest.raises(BenchmarkInitError, match="line 2, 'dim n 0'"):
        parse_program("dim m 4\ndim n 0")


def test_sizes_beyond_the_limits_are_refused() -> None:
    big = "dim m 65536\ndim n 65536\na = read A[m]\nb = read B[n]\nc = add a b\n"
    with pytest.raises(BenchmarkInitError, match="C has 4294967296 elements"):
        parse_program(f"{big}write c C[m, n]")
    with pytest.raises(BenchmarkInitError, match=f"at most {MOST_POINTS}"):
        parse_program(
            f"{big}dim k 65536\nd = read D[k]\ne = mul c d\ns = sum e [m, n, k]\nwrite s S[]"
        )
    reads = "\n".join(f"a{i} = read A{i}[m]" for i in range(5))
    sums = "\n".join(f"write a{i} B{i}[m]" for i in range(5))
    with pytest.raises(BenchmarkInitError, match=f"bytes; the limit is {MOST_BYTES}"):
        parse_program(f"dim m 268435456\n{reads}\n{sums}")
