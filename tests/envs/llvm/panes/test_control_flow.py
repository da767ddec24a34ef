# SPDX-License-Identifier: MIT
from compiler_gym.envs.llvm.panes.control_flow import control_flow

SWITCH = """\
define i32 @f(i32 %0, ptr byval({ i32, ptr }) %1) personality ptr @p {
  switch i32 %0, label %3 [
    i32 0, label %"odd name"
    i32 1, label %"odd name"
    i32 2, label %7
  ]

3:                                                ; preds = %2
  %4 = icmp eq i32 %0, 9
  br i1 %4, label %7, label %5

5:                                                ; preds = %3
  invoke void @g()
          to label %7 unwind label %9

"odd name":
  ret i32 1

7:
  %8 = phi i32 [ 0, %2 ], [ 1, %3 ], [ 2, %5 ]
  ret i32 %8

9:
  %10 = landingpad { ptr, i32 }
          cleanup
  resume { ptr, i32 } %10
}
"""


def test_blocks_and_where_they_go_on_are_read_from_terminators() -> None:
    graph = control_flow([SWITCH], "f")
    assert [node.id for node in graph.nodes] == ["2", "3", "5", '"odd name"', "7", "9"]
    edges = {(edge.source, edge.target, edge.label) for edge in graph.edges}
    assert edges == {
        ("2", "3", ""),
        ("2", '"odd name"', ""),
        ("2", "7", ""),
        ("3", "7", "true"),
        ("3", "5", "false"),
        ("5", "7", ""),
        ("5", "9", ""),
    }
    kinds = {node.id: node.kind for node in graph.nodes}
    assert kinds["2"] == "entry"
    assert kinds["7"] == kinds["9"] == "exit"
    assert kinds["3"] == "block"


def test_a_block_is_the_same_under_other_numbers() -> None:
    one = control_flow(["define void @f() {\n  %1 = add i32 1, 2\n  ret void\n}"], "f")
    other = control_flow(["define void @f(i32 %0) {\n  %2 = add i32 1, 2\n  ret void\n}"], "f")
    third = control_flow(["define void @f() {\n  %1 = add i32 1, 3\n  ret void\n}"], "f")
    assert (one.nodes[0].id, other.nodes[0].id) == ("0", "1")
    assert one.nodes[0].digest == other.nodes[0].digest != third.nodes[0].digest


def test_long_blocks_are_shown_in_part() -> None:
    lines = "\n".join(f"  %{n} = add i32 {n}, {'1' * 100}" for n in range(1, 50))
    (node,) = control_flow([f"define void @f() {{\n{lines}\n  ret void\n}}"], "f").nodes
    shown = node.label.split("\n")
    assert len(shown) < 15
    assert max(map(len, shown)) < 70
    assert shown[-1] == "ret void"
    assert node.weight == 50


def test_a_declaration_has_no_blocks() -> None:
    assert control_flow(["declare void @f()"], "f").nodes == ()
