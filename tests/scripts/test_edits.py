# SPDX-License-Identifier: MIT
"""Each kind of error makes of a line what a pass that goes wrong would make of it."""

import pytest

from scripts.edits import KINDS, Place

HEAD = "define i32 @f(ptr %0, ptr %1, i32 %2) {"


def edited(kind: str, *lines: str, at: int = 0) -> list[str] | None:
    """Return the lines of a function after an edit of its line `at`."""
    text = [HEAD, *(line if line.endswith(":") else f"  {line}" for line in lines), "}"]
    change = KINDS[kind].edit(Place(text, 0, at + 1))
    if change is None:
        return None
    done = [part for n, line in enumerate(text) for part in change.get(n, [line])]
    return [line.strip() for line in done[1:-1]]


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("strictness of a predicate", "%4 = icmp slt i32 %2, 9", "%4 = icmp sle i32 %2, 9"),
        (
            "signedness of a predicate",
            "%4 = icmp samesign ult i32 %2, 9",
            "%4 = icmp slt i32 %2, 9",
        ),
        ("swapped branch", "br i1 %4, label %5, label %6", "br i1 %4, label %6, label %5"),
        (
            "wrong phi incoming",
            "%4 = phi i32 [ 0, %5 ], [ %6, %7 ]",
            "%4 = phi i32 [ 0, %5 ], [ 0, %7 ]",
        ),
        (
            "wrong GEP index",
            "%4 = getelementptr inbounds nuw i8, ptr %0, i64 8",
            "%4 = getelementptr i8, ptr %0, i64 9",
        ),
        ("sext for zext", "%4 = zext nneg i8 %3 to i32", "%4 = sext i8 %3 to i32"),
        ("zext for sext", "%4 = sext i8 %3 to i32", "%4 = zext i8 %3 to i32"),
        ("lost mask", "%4 = and i32 %2, 255", "%4 = or i32 %2, 0"),
        ("lost negation", "%4 = xor i1 %3, true", "%4 = or i1 %3, false"),
        ("lost negation", "%4 = sub nsw i32 0, %2", "%4 = freeze i32 %2"),
        ("lshr for ashr and back", "%4 = ashr exact i32 %2, 3", "%4 = lshr i32 %2, 3"),
        ("signedness of a division", "%4 = udiv i32 %2, 3", "%4 = sdiv i32 %2, 3"),
        ("changed operator", "%4 = add nsw i32 %2, 3", "%4 = sub i32 %2, 3"),
        ("changed float operator", "%4 = fadd double %2, %3", "%4 = fsub double %2, %3"),
        (
            "signedness of a conversion",
            "%4 = sitofp i32 %2 to double",
            "%4 = uitofp i32 %2 to double",
        ),
        ("dropped call", "%4 = tail call i32 @g(i32 %2)", "%4 = freeze i32 0"),
        (
            "swapped arguments",
            "%4 = call i32 @g(i32 noundef %2, ptr %0, i32 %3) #1",
            "%4 = call i32 @g(i32 %3, ptr %0, i32 %2) #1",
        ),
        ("wrong return value", "ret i32 %2", "ret i32 0"),
        ("wrong alignment", "%4 = load i32, ptr %0, align 4", "%4 = load i32, ptr %0, align 64"),
        ("wrap-around wrongly ruled out", "%4 = add i32 %2, 1", "%4 = add nuw nsw i32 %2, 1"),
        (
            "wrong memcpy length",
            "call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %1, i64 24, i1 false)",
            "call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %1, i64 23, i1 false)",
        ),
    ],
)  # fmt: skip
def test_one_line_changes_as_the_kind_says(kind: str, before: str, after: str) -> None:
    assert edited(kind, before) == [after]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("dropped store", "store volatile i32 %2, ptr %0, align 4"),
        ("dropped call", "call void @exit(i32 1)"),
        ("dropped call", "call void @llvm.lifetime.start.p0(ptr %0)"),
        ("off-by-one constant", "%4 = lshr i32 %2, 31"),
        ("swapped operands", "%4 = add i32 %2, %3"),
        ("swapped branch", "br label %4"),
        ("lost mask", "%4 = and i32 %2, 6"),
        ("wrong phi incoming", "%4 = phi i32 [ 0, %5 ], [ 0, %7 ]"),
    ],
)
def test_code_without_such_an_error_is_left_unchanged(kind: str, line: str) -> None:
    assert edited(kind, line) is None


def test_a_store_is_repeated_after_the_next_one() -> None:
    store, other = "store i32 1, ptr %0, align 4", "store i32 2, ptr %0, align 4"
    assert edited("duplicated store", store, other, "ret i32 0") == [
        store,
        other,
        store,
        "ret i32 0",
    ]


def test_a_store_moves_after_the_next_load() -> None:
    store, load = "store i32 1, ptr %0, align 4", "%4 = load i32, ptr %0, align 4"
    assert edited("reordered memory operations", store, load, "ret i32 %4") == [
        load, store, "ret i32 %4",
    ]  # fmt: skip


def test_a_loaded_value_outlives_a_store() -> None:
    load, again = "%4 = load i32, ptr %0, align 4", "%5 = load i32, ptr %0, align 4"
    store = "store i32 1, ptr %1, align 4"
    assert edited("load kept over a store", load, store, again) == [
        load, store, "%5 = freeze i32 %4",
    ]  # fmt: skip
    assert edited("load kept over a store", load, again, store) is None


def test_a_load_reads_uninitialised_memory() -> None:
    after = edited(
        "uninitialised load", "%4 = add i32 %2, 1", "%5 = load i32, ptr %0, align 4", at=1
    )
    assert after == [
        "%planted.memory = alloca i32, align 16",
        "%4 = add i32 %2, 1",
        "%5 = load i32, ptr %planted.memory, align 4",
    ]


def test_a_number_is_computed_in_half_its_width() -> None:
    assert edited("truncated width", "%4 = mul i64 %2, %3") == [
        "%planted.wide = mul i64 %2, %3",
        "%planted.half = trunc i64 %planted.wide to i32",
        "%4 = sext i32 %planted.half to i64",
    ]


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("exchanged switch cases", ["i8 98, label %4", "i8 97, label %5"]),
        ("lost switch case", ["i8 125, label %4", "i8 98, label %5"]),
    ],
)
def test_cases_of_a_switch_change_but_not_where_they_lead(kind: str, after: list[str]) -> None:
    lines = ["switch i8 %3, label %6 [", "  i8 97, label %4", "  i8 98, label %5", "]"]
    assert edited(kind, *lines, at=1) == ["switch i8 %3, label %6 [", *after, "]"]


def test_the_end_of_a_loop_is_distinguished_from_other_comparisons() -> None:
    text = [HEAD, "  br label %4", "4:                ; preds = %4, %3",
            "  %5 = icmp eq i64 %6, 100", "  br i1 %5, label %7, label %4", "}"]  # fmt: skip
    change = KINDS["loop ends too early or late"].edit(Place(text, 0, 3))
    assert change == {3: ["  %5 = icmp eq i64 %6, 99"]}
    text[4] = "  br i1 %5, label %7, label %8"
    text[2] = "4:                ; preds = %3"
    assert KINDS["loop ends too early or late"].edit(Place(text, 0, 3)) is None


@pytest.mark.parametrize("kind", ["fast-math reassociation", "alias wrongly ruled out"])
def test_promises_are_made_for_the_whole_function(kind: str) -> None:
    lines = ["%4 = fadd double %2, %3", "%5 = fmul double %4, %3", "store double %5, ptr %0"]
    text = [HEAD, *(f"  {line}" for line in lines), "}"]
    at = 1 if kind == "fast-math reassociation" else 3
    change = KINDS[kind].edit(Place(text, 0, at))
    assert change is not None
    if kind == "fast-math reassociation":
        assert [line for part in change.values() for line in part] == [
            "  %4 = fadd fast double %2, %3", "  %5 = fmul fast double %4, %3",
        ]  # fmt: skip
    else:
        assert change == {0: ["define i32 @f(ptr noalias %0, ptr noalias %1, i32 %2) {"]}
    assert KINDS[kind].exploit
