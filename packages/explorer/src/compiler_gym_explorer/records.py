# SPDX-License-Identifier: MIT
"""The records of the API's requests and responses, from which its schema is generated.

Records are plain values without behaviour. Fields that are optional in a request have a default
here; responses always have every field.
"""

from typing import Any

from msgspec import Struct, field

__all__ = [
    "Action",
    "ActionPart",
    "ActionSpace",
    "AllTried",
    "Baseline",
    "Catalogue",
    "Cost",
    "CostValues",
    "Costs",
    "Dataset",
    "Difference",
    "Edge",
    "Environment",
    "EnvironmentName",
    "Episode",
    "Episodes",
    "Event",
    "Export",
    "Fact",
    "Format",
    "FunctionDifference",
    "Functions",
    "Graph",
    "GraphKind",
    "GraphNode",
    "ImportRequest",
    "LineMap",
    "NewNodes",
    "NewSearch",
    "NewSession",
    "NewTryAll",
    "Node",
    "Nodes",
    "Observation",
    "ObservationValue",
    "Problem",
    "Recording",
    "Recordings",
    "Reward",
    "SearchMethod",
    "Server",
    "Session",
    "Sessions",
    "Shape",
    "Source",
    "Task",
    "Text",
    "Tried",
    "Vector",
]


class Problem(Struct, frozen=True, kw_only=True):
    """An error; the body of every response whose status is 400 or higher."""

    type: str
    """The class of the error, such as ``InvalidActionError``."""
    message: str
    expected: str = ""
    found: str = ""
    next: str = ""
    """Advice on the next step, if there is any."""


# -- server and environments ---------------------------------------------------------------------


class Format(Struct, frozen=True, kw_only=True):
    """A text format of programs that can be pasted."""

    name: str
    """The displayed name, such as ``C++``, which is also the value of `Source.language`."""
    suffixes: list[str]


class EnvironmentName(Struct, frozen=True, kw_only=True):
    """A registered environment, without its spaces and datasets."""

    id: str
    compiler: str
    description: str
    observation: str | None
    reward: str | None
    """The default reward, or null."""
    formats: list[Format]


class Server(Struct, frozen=True, kw_only=True):
    """The version, environments and limits of the server: the page's first request."""

    version: str
    environments: list[EnvironmentName]
    default_environment: str
    program: str | None
    """The program named on the command line, as for `NewSession.benchmark`."""
    source: "Source | None"
    """The program passed to the command on standard input, if any."""
    most_sessions: int
    idle_seconds: float
    most_body_bytes: int
    search_methods: list["SearchMethod"]


class SearchMethod(Struct, frozen=True, kw_only=True):
    """A search method."""

    name: str
    description: str


class Action(Struct, frozen=True, kw_only=True):
    """One action of a space whose actions have names."""

    index: int
    name: str
    flag: str | None
    description: str | None


class ActionPart(Struct, frozen=True, kw_only=True):
    """The meaning of one number in an action that consists of several."""

    name: str
    values: str
    description: str


class Shape(Struct, frozen=True, kw_only=True):
    """The structure of an unnamed value, from which the page builds a form."""

    kind: str
    """``choice``: one of `values`, shown as `options`; ``number``; ``text``; ``fields``: a value
    for each of `items`; ``list``: values of the single item; ``order``: a permutation of `least`
    integers starting at `low`; ``case``: one of `items`, an object with its name under the key
    `name` and any of its fields; ``other``: JSON."""
    name: str = ""
    description: str = ""
    options: list[str] = field(default_factory=list[str])
    values: list[Any] = field(default_factory=list[Any])
    low: float | None = None
    high: float | None = None
    whole: bool = False
    """True if a number is an integer."""
    items: list["Shape"] = field(default_factory=list["Shape"])
    in_order: bool = False
    """True if fields form a list, false if they form an object."""
    least: int = 0
    most: int | None = None
    """The maximum length of a list or text; null for no limit."""


class ActionSpace(Struct, frozen=True, kw_only=True):
    """An action space: its named actions, or the structure of its actions."""

    name: str
    space: str
    actions: list[Action]
    """The named actions; empty if actions are lists of numbers, which `parts` describes."""
    parts: list[ActionPart]
    shape: list[int]
    """The number of values of each number in an action; empty for a single number."""
    form: Shape | None
    """The structure of an action; null if actions have names."""
    settings: bool
    """True if actions set options, so that their order is mostly irrelevant."""


class Observation(Struct, frozen=True, kw_only=True):
    """An observation space."""

    name: str
    space: str
    description: str
    deterministic: bool
    platform_dependent: bool
    runs_program: bool
    """True if it runs the program, which needs ``run=true`` in the request."""


class Reward(Struct, frozen=True, kw_only=True):
    """A reward space."""

    name: str
    description: str
    observations: list[str]
    deterministic: bool
    platform_dependent: bool
    runs_program: bool


class Dataset(Struct, frozen=True, kw_only=True):
    """A set of programs."""

    name: str
    programs: int | None
    description: str
    license: str
    installed: bool


class Baseline(Struct, frozen=True, kw_only=True):
    """A cost after a standard pipeline, for comparison."""

    title: str
    """The name of the pipeline, such as ``-Oz``."""
    observation: str


class Cost(Struct, frozen=True, kw_only=True):
    """A measure of the program that the timeline shows; lower is better."""

    name: str
    """The observation."""
    title: str
    unit: str
    at_once: bool
    """True if every step measures it; others are requested with `Costs`."""
    runs_program: bool
    baselines: list[Baseline]


class Vector(Struct, frozen=True, kw_only=True):
    """A vector observation that can be plotted over an episode."""

    name: str
    labels: list[str]
    """The names of the elements; empty if they have none."""


class GraphKind(Struct, frozen=True, kw_only=True):
    """A kind of graph of a program."""

    kind: str
    title: str
    of_function: bool
    """True if there is a graph per function, so the request must name one."""


class Environment(Struct, frozen=True, kw_only=True):
    """The description of an environment, as in ``compiler-gym describe``, and its views."""

    id: str
    compiler_version: str
    about: str
    action_spaces: list[ActionSpace]
    observation_spaces: list[Observation]
    reward_spaces: list[Reward]
    datasets: list[Dataset]
    default_benchmark: str | None
    default_reward: str | None
    formats: list[Format]
    language: str
    """The language of the program's text, as a highlighter names it, such as ``llvm``."""
    text_title: str
    """The title of the program's text, such as ``IR``."""
    assembly_title: str
    has_text: bool
    has_assembly: bool
    costs: list[Cost]
    vectors: list[Vector]
    graphs: list[GraphKind]


class Catalogue(Struct, frozen=True, kw_only=True):
    """Programs of one dataset or of all."""

    benchmarks: list[str]
    more: bool
    """True if there are more programs than listed."""


# -- sessions and their trees -------------------------------------------------------------------


class Source(Struct, frozen=True, kw_only=True):
    """A pasted program."""

    text: str
    language: str | None = None
    """The name of a `Format`; detected from the text by default."""
    name: str = "pasted"


class Episode(Struct, frozen=True, kw_only=True):
    """A recorded episode, sufficient to replay it."""

    environment: str | None = None
    benchmark: str | None = None
    source: Source | None = None
    action_space: str | None = None
    reward_space: str | None = None
    commandline: str = ""
    """The actions as text; ignored if `actions` is given."""
    actions: list[Any] | None = None
    """The names or values of the actions."""
    reward: float | None = None
    """The reward of the recorded episode."""
    title: str = ""


class NewSession(Struct, frozen=True, kw_only=True):
    """A request to open a session on a benchmark, a pasted program, or a recorded episode."""

    environment: str | None = None
    benchmark: str | None = None
    """The address of a program, or a path on this machine."""
    source: Source | None = None
    action_space: str | None = None
    reward: str | None = None
    episode: Episode | None = None
    """An episode to replay. Its fields are the defaults of those above."""
    run: bool = False
    """True to permit running the program, which some rewards need."""


class Node(Struct, frozen=True, kw_only=True):
    """A state of the program: the result of the actions from the root to here."""

    id: int
    parent: int | None
    action: Any
    """The value of the action that led here; null at the root."""
    name: str
    """The action's name."""
    depth: int
    reward: float | None
    """The reward of the action; null without a reward space."""
    total: float | None
    """The sum of rewards from the root."""
    costs: dict[str, float]
    """The costs measured so far, by observation."""
    changed: bool
    """True if the action changed the program."""
    same_as: int | None
    """Another node with the same program, if there is one and the compiler can detect it."""
    ended: bool
    """True if the episode ended here, so that no action can follow."""
    seconds: float
    """The duration of the action itself, without overhead of the server."""
    error: Problem | None
    """The error if the action failed; such a node has no program."""


class Session(Struct, frozen=True, kw_only=True):
    """An environment with a program, and the tree of states explored so far."""

    id: str
    environment: str
    benchmark: str
    action_space: str
    reward: str | None
    nodes: list[Node]
    """The nodes: the root first, every other after its parent."""
    at: int
    """The node at the end of the replayed episode, or the root."""
    idle_seconds: float
    """The time since its last request, in seconds."""
    runs_allowed: bool


class Sessions(Struct, frozen=True, kw_only=True):
    """All open sessions, each with only the root of its tree."""

    sessions: list[Session]


class NewNodes(Struct, frozen=True, kw_only=True):
    """Actions to apply in order, starting from a node."""

    actions: list[Any]
    """Names or values; actions after the first failure are not applied."""
    parent: int = 0


class Nodes(Struct, frozen=True, kw_only=True):
    """One node for each action, new or existing."""

    nodes: list[Node]


class Costs(Struct, frozen=True, kw_only=True):
    """A request to measure costs of nodes."""

    nodes: list[int]
    names: list[str]
    """The observations, which must be numbers."""
    run: bool = False


class CostValues(Struct, frozen=True, kw_only=True):
    """The measured costs of one node; null if a measurement failed."""

    node: int
    costs: dict[str, float | None]
    errors: dict[str, Problem] = field(default_factory=dict[str, Problem])


class Fact(Struct, frozen=True, kw_only=True):
    """The name, length and digest of a function, without its text."""

    name: str
    lines: int
    digest: str
    """A digest of the text, equal for equal functions."""


class Functions(Struct, frozen=True, kw_only=True):
    """The functions of a state, in the order of its text."""

    node: int
    functions: list[Fact]
    outside: Fact
    """The text outside functions, with an empty name."""


class LineMap(Struct, frozen=True, kw_only=True):
    """Lines of a text, and the corresponding source lines, both counted from 1."""

    lines: list[int]
    sources: list[int]


class Text(Struct, frozen=True, kw_only=True):
    """A text of a state."""

    node: int | None
    language: str
    text: str
    line_map: LineMap | None
    """The source line of each line; null if unknown."""


class FunctionDifference(Struct, frozen=True, kw_only=True):
    """The difference of a function between two states."""

    name: str
    """The function's name; empty for the text outside functions."""
    status: str
    """``same``, ``changed``, ``added`` or ``removed``."""
    added: int
    """The number of added lines."""
    removed: int


class Difference(Struct, frozen=True, kw_only=True):
    """The functions that differ between states `a` and `b`, without their texts."""

    a: int
    b: int
    functions: list[FunctionDifference]
    """The functions with the most changed lines first, and equal functions last."""


class GraphNode(Struct, frozen=True, kw_only=True):
    """A node of a graph."""

    id: str
    label: str
    kind: str
    function: str
    status: str
    """``same``, ``changed`` or ``added``, relative to the request's `against`; else empty."""
    weight: float | None
    """The node's size, such as the number of instructions."""


class Edge(Struct, frozen=True, kw_only=True):
    """An edge of a graph."""

    source: str
    target: str
    label: str
    kind: str
    status: str


class Graph(Struct, frozen=True, kw_only=True):
    """A graph of a state, which the page draws."""

    node: int
    kind: str
    function: str
    nodes: list[GraphNode]
    edges: list[Edge]
    removed_nodes: list[GraphNode]
    """The nodes that only the other state has."""


class ObservationValue(Struct, frozen=True, kw_only=True):
    """An observation of a state."""

    node: int
    name: str
    value: Any
    text: str
    """The value, formatted by the environment."""


# -- tasks ----------------------------------------------------------------------------------------


class NewTryAll(Struct, frozen=True, kw_only=True):
    """A request to try every action on a node."""

    node: int = 0
    costs: list[str] = field(default_factory=list[str])
    """The costs to measure after each action, in addition to its reward."""
    actions: list[Any] | None = None
    """The actions to try; all by default."""


class NewSearch(Struct, frozen=True, kw_only=True):
    """A request for a search that starts from the actions of a node."""

    node: int = 0
    method: str = "portfolio"
    seconds: float = 10.0
    seed: int = 0


class Task(Struct, frozen=True, kw_only=True):
    """A background task whose progress is sent as events."""

    id: str
    kind: str
    """``try-all`` or ``search``."""
    node: int
    total: int | None
    """The number of steps, if known."""
    done: int
    status: str
    """``running``, ``done``, ``cancelled`` or ``failed``."""


class Tried(Struct, frozen=True, kw_only=True):
    """The effect of one action at a node, without adding a node to the tree."""

    action: Any
    name: str
    reward: float | None
    changed: bool
    costs: dict[str, float]
    error: Problem | None


class AllTried(Struct, frozen=True, kw_only=True):
    """The results of a try-all so far."""

    task: Task
    tried: list[Tried]


class Event(Struct, frozen=True, kw_only=True):
    """The JSON of a server-sent event, whose name is its kind.

    ``nodes``: nodes were added. ``removed``: `node` was removed. ``tried``: results of a try-all.
    ``progress``: the progress of a search. ``improved``: a search found a better sequence.
    ``task``: a task started or ended; the last event of its stream. ``recovered``: a worker was
    lost and its states were restored. ``closed``: the session was closed.
    """

    kind: str
    task: Task | None = None
    nodes: list[Node] = field(default_factory=list[Node])
    tried: list[Tried] = field(default_factory=list[Tried])
    reward: float | None = None
    length: int | None = None
    steps: int | None = None
    seconds: float | None = None
    actions: list[str] = field(default_factory=list[str])
    """The names of the improved sequence's actions, from the root."""
    problem: Problem | None = None
    node: int | None = None


# -- import and export ----------------------------------------------------------------------------


class Export(Struct, frozen=True, kw_only=True):
    """A state in all export formats."""

    state: dict[str, Any]
    """The state as JSON, for ``compiler-gym replay`` and `ImportRequest.text`."""
    fragment: str
    """The part after the ``#`` of a permanent link."""
    commandline: str
    """The equivalent compiler command, if there is one."""
    python: str
    """A Python program that reproduces the state."""


class ImportRequest(Struct, frozen=True, kw_only=True):
    """A recording to read: its text, or its path on the server's machine."""

    text: str | None = None
    """States as JSON, JSON lines or CSV, a search's results, a leaderboard entry, a tuning
    report, or the fragment of a permanent link."""
    path: str | None = None
    """A file with such text, or the folder of a run or of a tuned project."""


class Episodes(Struct, frozen=True, kw_only=True):
    """The episodes that were read, each suitable for `NewSession.episode`."""

    kind: str
    """``state``, ``fragment``, ``run``, ``leaderboard`` or ``tuning``."""
    episodes: list[Episode]


class Recording(Struct, frozen=True, kw_only=True):
    """A recording on the server's machine."""

    kind: str
    """``run``, ``leaderboard`` or ``tuning``."""
    path: str
    """The folder, relative to the one where the server was started, for `ImportRequest.path`."""


class Recordings(Struct, frozen=True, kw_only=True):
    """The recordings below the folder where the server was started, newest first."""

    recordings: list[Recording]
