# SPDX-License-Identifier: MIT
"""Lower a loop tree to LLVM IR for processors: `void nest(ptr buffers)`.

Every size is a constant, so tails have their own code and no bound is computed at run time.
Multiply-adds round once, and sums are computed in the order of the tree, but in several lanes and
partial sums at once: these are the only differences from the tree's meaning.
"""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from compiler_gym_loop_tool.state.program import Access, Expression, Operation, Statement
from compiler_gym_loop_tool.state.tree import Tree
from compiler_gym_loop_tool.toolchain.code.arithmetic import (
    DECLARATIONS,
    IDENTITY,
    combine,
    multiply_add,
    number,
    operate,
    reduce_lanes,
    splat,
)
from compiler_gym_loop_tool.toolchain.code.plain import write_plain
from compiler_gym_loop_tool.toolchain.code.plan import (
    MOST_CHUNKS,
    LoopPlan,
    Nest,
    chunks,
    make_plan,
    operands,
)
from compiler_gym_loop_tool.toolchain.code.text import Accumulators, Function, vector

__all__ = ["ENTRY", "Lowering", "Place", "Scope", "lower"]

ENTRY = "nest"
"""The name of the function; its argument is the array of the tensors' addresses, in order."""

_CHUNKS_A_STEP = 4
"""Number of vectors per iteration of a vectorised loop."""

_RUNTIME = """declare ptr @compiler_gym_scratch(i64, i64)
declare void @compiler_gym_parallel_for(ptr, ptr, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The location of an access at the current point: a pointer and a constant offset."""

    pointer: str
    offset: int = 0
    strides: Mapping[int, int] | None = None
    """For a packed part: the distance of an iteration of each loop, by the loop's identity."""

    def move(self, distance: int) -> "Place":
        """Return the place `distance` elements further."""
        return replace(self, offset=self.offset + distance) if distance else self


_At = tuple[int, Access]
"""An access in a statement."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The values that hold at a point of the tree."""

    places: Mapping[_At, Place]
    extents: Mapping[str, int]
    """Number of elements covered in each dimension."""
    copy: int = 0
    """The number of the current copy of unrolled reduction iterations."""


@dataclass(frozen=True, slots=True)
class _Lanes:
    """A vector of iterations of a loop."""

    nest: Nest
    width: int


@dataclass(slots=True)
class _Sum:
    """A reduction whose totals are in registers."""

    accumulators: Accumulators
    base: Place
    loaded: set[tuple[int, int, int]] = field(default_factory=set[tuple[int, int, int]])
    """The offset, width and stride of the initial value that a total loaded from memory."""


def lower(tree: Tree, width: int) -> str:
    """Return the IR of `tree` with vectors of up to `width` elements."""
    return Lowering(make_plan(tree, width)).module()


class Lowering:
    """Writer of one module."""

    def __init__(self, plan: LoopPlan) -> None:
        self.plan = plan
        self.program = plan.program
        self.done: list[Function] = []
        self.function = Function(f"define void @{ENTRY}(ptr %buffers) #0")
        self.loaded: dict[tuple[str, int, int, int], str] = {}
        """Parts of inputs in registers, by pointer, offset, width and stride."""
        self.sums: dict[int, _Sum] = {}
        self.slots: dict[tuple[int, str], int] = {}
        self.is_parallel = False

    def module(self) -> str:
        """Return the complete text."""
        function = self.function
        tensors: dict[str, str] = {}
        for at, name in enumerate(self.program.tensors):
            entry = function.set(f"getelementptr ptr, ptr %buffers, i64 {at}", "%b")
            tensors[name] = function.set(f"load ptr, ptr {entry}", "%t")
        for statement in self.plan.filled:
            self.fill(tensors[statement.out.tensor], statement)
        places = {
            (leaf, access): Place(tensors[access.tensor])
            for leaf in range(len(self.program.statements))
            for access in operands(self.program, leaf)
        }
        if self.plan.is_plain:
            write_plain(self.plan, function, tensors)
        else:
            self.nodes(self.plan.roots, Scope(places, dict(self.program.dims)))
        function.add("ret void")
        self.done.append(function)
        attributes = 'attributes #0 = { nounwind "prefer-vector-width"="512" }\n'
        return _RUNTIME + DECLARATIONS + "".join(map(str, self.done)) + attributes

    def fill(self, pointer: str, statement: Statement) -> None:
        """Set a whole result to the initial value of its reduction."""
        elements = self.program.tensors[statement.out.tensor].elements
        if statement.reduction == "sum":
            self.function.add(
                f"call void @llvm.memset.p0.i64(ptr {pointer}, i8 0, i64 {4 * elements}, i1 false)"
            )
            return
        width = self.plan.width
        value = number(IDENTITY[statement.reduction])
        full = elements // width
        if full > 1:
            with self.function.loop(str(full)) as counter:
                distance = self.function.set(f"mul i64 {counter}, {width}")
                at = self.function.set(f"getelementptr float, ptr {pointer}, i64 {distance}")
                self.store(Place(at), splat(self.function, value, width), width, 1)
        begin = full * width if full > 1 else 0
        for offset, lanes in chunks(elements - begin, width):
            place = Place(pointer, begin + offset)
            self.store(place, splat(self.function, value, lanes), lanes, 1)

    # -- the tree -------------------------------------------------------------------------------

    def nodes(self, nodes: Iterable[Nest | int], scope: Scope) -> None:
        """Write `nodes` in order."""
        for node in nodes:
            if isinstance(node, int):
                self.statement(node, scope, None)
            else:
                self.nest(node, scope)

    def nest(self, nest: Nest, scope: Scope) -> None:
        """Write a loop, with code around it that keeps the totals of reductions in registers."""
        with ExitStack() as stack:
            if nest.sums:
                scope = replace(scope, copy=0)
            for leaf in nest.sums:
                accumulators = stack.enter_context(self.function.accumulators())
                statement = self.program.statements[leaf]
                self.sums[leaf] = _Sum(accumulators, scope.places[leaf, statement.out])
            if nest.is_vector:
                self.vectors(nest, scope)
            else:
                self.iterations(nest, scope)
        for leaf in nest.sums:
            self.finish(leaf, self.sums.pop(leaf), nest)

    def iterations(self, nest: Nest, scope: Scope) -> None:
        """Write the full iterations of a loop, then its tail."""
        size, tail = divmod(scope.extents[nest.dim], nest.step)
        if nest.is_flat or size <= 1:
            for number_ in range(size):
                self.nodes(nest.body, self.pack(nest, self.shift(nest, scope, number_, size)))
        elif nest.is_parallel and not self.is_parallel:
            self.spread(nest, scope, size)
        else:
            saved = dict(self.loaded)
            with self.function.loop(str(size)) as counter:
                self.nodes(nest.body, self.pack(nest, self.advance(nest, scope, counter)))
            self.loaded = saved
        if tail:
            last = self.shift(nest, scope, size, size + 1)
            covered = {**scope.extents, nest.dim: tail}
            self.nodes(nest.body, self.pack(nest, replace(last, extents=covered)))

    def shift(self, nest: Nest, scope: Scope, iteration: int, size: int) -> Scope:
        """Return the scope of an iteration with a constant number."""
        places = {
            at: place.move(iteration * self.stride(nest, at, place))
            for at, place in scope.places.items()
        }
        extents = {**scope.extents, nest.dim: nest.step}
        return Scope(places, extents, scope.copy * size + iteration)

    def advance(self, nest: Nest, scope: Scope, counter: str) -> Scope:
        """Return the scope of the iteration `counter`, with advanced pointers."""
        leaves = set(nest.leaves)
        places = dict(scope.places)
        pointers: dict[tuple[str, int], str] = {}
        for at, place in scope.places.items():
            stride = self.stride(nest, at, place)
            if at[0] not in leaves or not stride:
                continue
            if (place.pointer, stride) not in pointers:
                distance = self.function.set(f"mul nsw i64 {counter}, {stride}")
                pointers[place.pointer, stride] = self.function.set(
                    f"getelementptr inbounds float, ptr {place.pointer}, i64 {distance}", "%p"
                )
            places[at] = replace(place, pointer=pointers[place.pointer, stride])
        return Scope(places, {**scope.extents, nest.dim: nest.step}, scope.copy)

    def stride(self, nest: Nest, at: _At, place: Place) -> int:
        """Return the distance of one iteration of `nest` in the accessed data, in elements."""
        if place.strides is not None:
            return place.strides.get(id(nest), 0)
        return at[1].stride(nest.dim) * nest.step

    def spread(self, nest: Nest, scope: Scope, size: int) -> None:
        """Write the iterations of a loop as a separate function that threads share."""
        outside, loaded = self.function, self.loaded
        name = outside.name("part")
        pointers = sorted({place.pointer for place in scope.places.values()})
        shared = outside.name("%shared")
        outside.prologue.append(f"{shared} = alloca [{len(pointers)} x ptr]")
        body = Function(f"define internal void @{name}(ptr %shared, i64 %begin, i64 %end) #0")
        inside: dict[str, str] = {}
        for at, pointer in enumerate(pointers):
            field = outside.set(f"getelementptr ptr, ptr {shared}, i64 {at}")
            outside.add(f"store ptr {pointer}, ptr {field}")
            field = body.set(f"getelementptr ptr, ptr %shared, i64 {at}")
            inside[pointer] = body.set(f"load ptr, ptr {field}")
        outside.add(f"call void @compiler_gym_parallel_for(ptr @{name}, ptr {shared}, i64 {size})")
        places = {
            at: replace(place, pointer=inside[place.pointer]) for at, place in scope.places.items()
        }
        self.function, self.loaded, self.is_parallel = body, {}, True
        with body.loop("%end", "%begin") as counter:
            each = self.advance(nest, replace(scope, places=places), counter)
            self.nodes(nest.body, self.pack(nest, each))
        body.add("ret void")
        self.done.append(body)
        self.function, self.loaded, self.is_parallel = outside, loaded, False

    # -- packed operands ------------------------------------------------------------------------

    def pack(self, nest: Nest, scope: Scope) -> Scope:
        """Copy the operands that `nest` packs, and return the scope that reads the copies."""
        for tensor in nest.packs:
            scope = self.copy_operand(nest, tensor, scope)
        return scope

    def copy_operand(self, nest: Nest, tensor: str, scope: Scope) -> Scope:
        """Copy one operand in the order in which the inner loops read it."""
        paths = _paths(nest, tensor, self.program.statements)
        leaf, access, path = paths[0]
        strides: dict[int, int] = {}
        elements = 1
        for loop in reversed(path):
            strides[id(loop)] = elements
            elements *= -(-loop.extent // loop.step)
        slot = self.slots.setdefault((id(nest), tensor), len(self.slots))
        block = self.function.name("%pack")
        self.function.prologue.append(
            f"{block} = call ptr @compiler_gym_scratch(i64 {slot}, i64 {4 * elements})"
        )
        part = Place(block, 0, strides)
        self.copy(
            path,
            (leaf, access),
            replace(scope, places={(leaf, access): scope.places[leaf, access]}),
            part,
        )
        places = dict(scope.places)
        for other, read, loops in paths:
            if [id(loop) for loop in loops] == [id(loop) for loop in path]:
                places[other, read] = part
        return replace(scope, places=places)

    def copy(self, path: list[Nest], at: _At, scope: Scope, part: Place) -> None:
        """Write the loops of `path` around the copy of one element or vector."""
        source = scope.places[at]
        if not path:
            self.store(part, self.load(source, 1, 0), 1, 0)
            return
        nest, *inner = path
        size, tail = divmod(scope.extents[nest.dim], nest.step)
        stride, distance = self.stride(nest, at, source), part.strides or {}
        goes = distance[id(nest)]
        if not inner and stride == 1 == goes and size <= MOST_CHUNKS * self.plan.width:
            for offset, width in chunks(size, self.plan.width):
                value = self.load(source.move(offset), width, 1)
                self.store(part.move(offset), value, width, 1)
            return
        if size > 1:
            saved = dict(self.loaded)
            with self.function.loop(str(size)) as counter:
                each = self.function.set(f"mul nsw i64 {counter}, {goes}")
                pointer = self.function.set(
                    f"getelementptr inbounds float, ptr {part.pointer}, i64 {each}"
                )
                marker = Nest(nest.dim, nest.step, nest.extent, [at[0]])
                inside = self.advance(marker, scope, counter)
                self.copy(inner, at, inside, replace(part, pointer=pointer))
            self.loaded = saved
        elif size:
            self.copy(inner, at, self.shift(nest, scope, 0, 1), part)
        if tail:
            last = self.shift(nest, scope, size, size + 1)
            covered = {**scope.extents, nest.dim: tail}
            self.copy(inner, at, replace(last, extents=covered), part.move(size * goes))

    # -- vectors --------------------------------------------------------------------------------

    def vectors(self, nest: Nest, scope: Scope) -> None:
        """Write an innermost loop as vectors: all unrolled, or a loop and the remainder."""
        size = scope.extents[nest.dim]
        width = self.plan.width
        begin = 0
        if size // width > MOST_CHUNKS:
            step = width * _CHUNKS_A_STEP
            full = size // step
            block = Nest(nest.dim, step, size, nest.body)
            saved = dict(self.loaded)
            with self.function.loop(str(full)) as counter:
                inside = self.advance(block, scope, counter)
                self.chunks(nest, inside, chunks(step, width))
            self.loaded = saved
            begin = full * step
        remainder = chunks(size - begin, width)
        self.chunks(nest, scope, [(begin + offset, lanes) for offset, lanes in remainder])

    def chunks(self, nest: Nest, scope: Scope, parts: list[tuple[int, int]]) -> None:
        """Write the statements of an innermost loop for several vectors of its iterations."""
        for at, (offset, width) in enumerate(parts):
            places = {
                key: place.move(offset * self.stride(nest, key, place))
                for key, place in scope.places.items()
            }
            copy = scope.copy * len(parts) + at
            inside = Scope(places, scope.extents, copy)
            for leaf in nest.leaves:
                self.statement(leaf, inside, _Lanes(nest, width))

    # -- statements -----------------------------------------------------------------------------

    def statement(self, leaf: int, scope: Scope, lanes: _Lanes | None) -> None:
        """Write a statement at one point, or for several lanes."""
        statement = self.program.statements[leaf]
        width = lanes.width if lanes else 1
        out = scope.places[leaf, statement.out]
        stride = self.stride(lanes.nest, (leaf, statement.out), out) if lanes else 0
        if not statement.reduction:
            value = self.value(leaf, statement.value, scope, lanes)
            self.store(out, value, width, stride)
        elif leaf in self.sums:
            self.accumulate(leaf, statement, scope, lanes)
        else:
            total = self.load(out, width, stride, keep=False)
            self.store(out, self.add_step(leaf, statement, total, scope, lanes), width, stride)

    def add_step(
        self, leaf: int, statement: Statement, total: str, scope: Scope, lanes: _Lanes | None
    ) -> str:
        """Write one step of a reduction and return the new total."""
        width = lanes.width if lanes else 1
        value = statement.value
        if statement.reduction == "sum" and isinstance(value, Operation) and value.op == "mul":
            left, right = (self.value(leaf, part, scope, lanes) for part in value.operands)
            return multiply_add(self.function, left, right, total, width)
        term = self.value(leaf, value, scope, lanes)
        return combine(self.function, statement.reduction, total, term, width)

    def value(self, leaf: int, value: Expression, scope: Scope, lanes: _Lanes | None) -> str:
        """Write an expression and return its result."""
        width = lanes.width if lanes else 1
        if isinstance(value, Access):
            place = scope.places[leaf, value]
            stride = self.stride(lanes.nest, (leaf, value), place) if lanes else 0
            keep = self.program.tensors[value.tensor].role == "input"
            return self.load(place, width, stride, keep=keep)
        if isinstance(value, Operation):
            parts = [self.value(leaf, part, scope, lanes) for part in value.operands]
            return operate(self.function, value.op, parts, width)
        return splat(self.function, number(value), width)

    def accumulate(
        self, leaf: int, statement: Statement, scope: Scope, lanes: _Lanes | None
    ) -> None:
        """Add to a total in a register: one for each place and partial result."""
        total, out = self.sums[leaf], scope.places[leaf, statement.out]
        width = lanes.width if lanes else 1
        copy = scope.copy % self.plan.copies[leaf]
        is_reduced = lanes is not None and lanes.nest.dim in statement.over
        stride = 0
        if lanes is not None and width > 1:
            stride = self.stride(lanes.nest, (leaf, statement.out), out)
        key = (out.offset, width, copy, is_reduced, stride)
        accumulators = total.accumulators
        if key not in accumulators.values:
            before, self.function.lines = self.function.lines, accumulators.start
            place = (out.offset, width, stride)
            if is_reduced or self.plan.is_complete[leaf] or place in total.loaded:
                begin = splat(self.function, number(IDENTITY[statement.reduction]), width)
            else:
                total.loaded.add(place)
                begin = self.load(replace(total.base, offset=out.offset), width, stride, keep=False)
            self.function.lines = before
            accumulators.types[key], accumulators.values[key] = vector(width), begin
        current = self.function.carry(accumulators, key)
        accumulators.values[key] = self.add_step(leaf, statement, current, scope, lanes)

    def finish(self, leaf: int, total: _Sum, nest: Nest) -> None:
        """Write the totals of a reduction to memory, combining partial results and lanes."""
        statement = self.program.statements[leaf]
        function = self.function
        values = total.accumulators.values
        parts: dict[tuple[object, ...], list[str]] = {}
        for (offset, width, _copy, is_reduced, stride), value in values.items():
            parts.setdefault((offset, width, is_reduced, stride), []).append(value)
        numbers: dict[int, list[str]] = {}
        for (offset, width, is_reduced, stride), partial in parts.items():
            assert isinstance(offset, int)
            assert isinstance(width, int)
            assert isinstance(stride, int)
            total_value = self.together(statement.reduction, partial, width)
            place = replace(total.base, offset=offset)
            if is_reduced or width == 1:
                scalar = reduce_lanes(function, statement.reduction, total_value, width)
                numbers.setdefault(offset, []).append(scalar)
            else:
                self.store(place, total_value, width, stride)
        for offset, partial in numbers.items():
            place = replace(total.base, offset=offset)
            if not self.plan.is_complete[leaf] and (offset, 1, 0) not in total.loaded:
                partial = [self.load(place, 1, 0, keep=False), *partial]
            self.store(place, self.together(statement.reduction, partial, 1), 1, 0)

    def together(self, reduction: str, values: list[str], width: int) -> str:
        """Combine values pairwise."""
        while len(values) > 1:
            values = [
                combine(self.function, reduction, values[at], values[at + 1], width)
                if at + 1 < len(values)
                else values[at]
                for at in range(0, len(values), 2)
            ]
        return values[0]

    # -- memory ---------------------------------------------------------------------------------

    def pointer(self, place: Place) -> str:
        """Write the address computation of a place and return the address."""
        if not place.offset:
            return place.pointer
        return self.function.set(
            f"getelementptr inbounds float, ptr {place.pointer}, i64 {place.offset}"
        )

    def load(self, place: Place, width: int, stride: int, *, keep: bool = True) -> str:
        """Write the load of `width` elements, `stride` apart; 0 copies one to all lanes."""
        if width == 1:
            stride = 0
        key = (place.pointer, place.offset, width, stride)
        if keep and key in self.loaded:
            return self.loaded[key]
        function = self.function
        if width == 1:
            value = function.set(f"load float, ptr {self.pointer(place)}, align 4")
        elif stride == 0:
            value = splat(function, self.load(place, 1, 0, keep=keep), width)
        elif stride == 1:
            value = function.set(f"load {vector(width)}, ptr {self.pointer(place)}, align 4")
        else:
            value = "poison"
            for lane in range(width):
                element = self.load(place.move(lane * stride), 1, 0, keep=keep)
                value = function.set(
                    f"insertelement {vector(width)} {value}, float {element}, i64 {lane}"
                )
        if keep:
            self.loaded[key] = value
        return value

    def store(self, place: Place, value: str, width: int, stride: int) -> None:
        """Write the store of `width` elements, `stride` apart."""
        if width == 1 or stride == 1:
            self.function.add(f"store {vector(width)} {value}, ptr {self.pointer(place)}, align 4")
            return
        for lane in range(width):
            element = self.function.set(f"extractelement {vector(width)} {value}, i64 {lane}")
            self.store(place.move(lane * stride), element, 1, 1)


def _paths(
    nest: Nest, tensor: str, statements: tuple[Statement, ...]
) -> list[tuple[int, Access, list[Nest]]]:
    """Return the reads of a tensor in a loop, each with the loops that move through it."""
    paths: list[tuple[int, Access, list[Nest]]] = []

    def visit(node: Nest | int, path: list[Nest]) -> None:
        if isinstance(node, Nest):
            for child in node.body:
                visit(child, [*path, node])
            return
        for access in statements[node].reads:
            if access.tensor == tensor:
                paths.append((node, access, [n for n in path if access.stride(n.dim)]))

    for child in nest.body:
        visit(child, [])
    return paths
