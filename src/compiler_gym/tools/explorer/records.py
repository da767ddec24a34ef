# SPDX-License-Identifier: MIT
"""The records of the API's requests and answers, from which its schema is generated.

Records hold plain values and do nothing. A field that may be left out of a request has a
default here; answers always have every field.
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
    """Why a request was not served; the body of every answer whose status is 400 or more."""

    type: str
    """The class of the error, such as ``InvalidActionError``."""
    message: str
    expected: str = ""
    found: str = ""
    next: str = ""
    """What to do about it, if anything is known to help."""


# -- what there is -----------------------------------------------------------------------------


class Format(Struct, frozen=True, kw_only=True):
    """A way to write a program that can be pasted."""

    name: str
    """What a person calls it, such as ``C++``; what `Source.language` takes."""
    suffixes: list[str]


class EnvironmentName(Struct, frozen=True, kw_only=True):
    """One registered environment, before it is asked what it offers."""

    id: str
    compiler: str
    description: str
    observation: str | None
    reward: str | None
    """The reward it is made with, or null."""
    formats: list[Format]


class Server(Struct, frozen=True, kw_only=True):
    """The version, the environments and the limits of the server: a page's first request."""

    version: str
    environments: list[EnvironmentName]
    default_environment: str
    program: str | None
    """The program named on the command line, as `NewSession.benchmark` takes it."""
    source: "Source | None"
    """The program given to the command line as text, if any."""
    most_sessions: int
    idle_seconds: float
    most_body_bytes: int
    search_methods: list["SearchMethod"]


class SearchMethod(Struct, frozen=True, kw_only=True):
    """A search that can be started."""

    name: str
    description: str


class Action(Struct, frozen=True, kw_only=True):
    """One action of a space whose actions have names."""

    index: int
    name: str
    flag: str | None
    description: str | None


class ActionPart(Struct, frozen=True, kw_only=True):
    """The meaning of one number of an action that consists of several."""

    name: str
    values: str
    description: str


class Shape(Struct, frozen=True, kw_only=True):
    """The structure of a value without a name, from which a page makes a form."""

    kind: str
    """``choice``: one of `values`, shown as `options`; ``number``; ``text``; ``fields``: a value
    for each of `items`; ``list``: values of the one item; ``order``: a permutation of the `least`
    integers from `low` on; ``case``: one of `items`, its name under the key `name` beside those of
    its fields that are given; ``other``: JSON."""
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
    """True if fields are a list, not an object by their names."""
    least: int = 0
    most: int | None = None
    """The greatest length of a list or a text; null: no limit."""


class ActionSpace(Struct, frozen=True, kw_only=True):
    """An action space: its actions by name, or how an action is written."""

    name: str
    space: str
    actions: list[Action]
    """The named actions; empty where an action is a list of numbers, which `parts` describes."""
    parts: list[ActionPart]
    shape: list[int]
    """Number of values that each number of an action has; empty for one number."""
    form: Shape | None
    """The structure of an action; null where actions have names."""
    settings: bool
    """True if actions set options, so that their order matters little."""


class Observation(Struct, frozen=True, kw_only=True):
    """An observation space."""

    name: str
    space: str
    description: str
    deterministic: bool
    platform_dependent: bool
    runs_program: bool
    """True if it runs the program; it is refused unless the request says ``run=true``."""


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
    """What a cost is after a standard pipeline."""

    title: str
    """Such as ``-Oz``."""
    observation: str


class Cost(Struct, frozen=True, kw_only=True):
    """A number of the program that the timeline shows; less is better."""

    name: str
    """The observation."""
    title: str
    unit: str
    at_once: bool
    """True if every step reports it; others are requested with `Costs`."""
    runs_program: bool
    baselines: list[Baseline]


class Vector(Struct, frozen=True, kw_only=True):
    """An observation of many numbers that can be drawn over an episode."""

    name: str
    labels: list[str]
    """A name for each number; empty where they have none."""


class GraphKind(Struct, frozen=True, kw_only=True):
    """A graph that can be drawn of a program."""

    kind: str
    title: str
    of_function: bool
    """True if there is one for each function: the request names it."""


class Environment(Struct, frozen=True, kw_only=True):
    """All that an environment offers, as ``compiler-gym describe`` gives it, and its views."""

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
    """What the text of a program is written in, such as ``llvm``; what a highlighter calls it."""
    text_title: str
    assembly_title: str
    """The title of that text, such as ``IR``."""
    has_text: bool
    has_assembly: bool
    costs: list[Cost]
    vectors: list[Vector]
    graphs: list[GraphKind]


class Catalogue(Struct, frozen=True, kw_only=True):
    """Programs of a dataset, or of all."""

    benchmarks: list[str]
    more: bool
    """True if there are others than those listed."""


# -- sessions and their trees -------------------------------------------------------------------


class Source(Struct, frozen=True, kw_only=True):
    """A program that was pasted."""

    text: str
    language: str | None = None
    """The name of a `Format`; told from the text where it is left out."""
    name: str = "pasted"


class Episode(Struct, frozen=True, kw_only=True):
    """A recorded episode: enough to replay it."""

    environment: str | None = None
    benchmark: str | None = None
    source: Source | None = None
    action_space: str | None = None
    reward_space: str | None = None
    commandline: str = ""
    """The actions as text of their space; ignored where `actions` is given."""
    actions: list[Any] | None = None
    """Names or values of actions."""
    reward: float | None = None
    """What was earned when it was recorded."""
    title: str = ""


class NewSession(Struct, frozen=True, kw_only=True):
    """A request to open a session on a benchmark, a pasted program, or the end of an episode."""

    environment: str | None = None
    benchmark: str | None = None
    """The address of a program, or a path on this machine."""
    source: Source | None = None
    action_space: str | None = None
    reward: str | None = None
    episode: Episode | None = None
    """An episode to replay. Its fields replace those that the request leaves out."""
    run: bool = False
    """True if the program may be run: needed by rewards that do."""


class Node(Struct, frozen=True, kw_only=True):
    """A state of the program: the result of the actions from the root to here."""

    id: int
    parent: int | None
    action: Any
    """The value of the action that led here; null at the root."""
    name: str
    """What it is called."""
    depth: int
    reward: float | None
    """What the action earned; null without a reward space."""
    total: float | None
    """What all actions from the root earned."""
    costs: dict[str, float]
    """The costs measured so far, by observation."""
    changed: bool
    """True if the action changed the program. False is a no-op."""
    same_as: int | None
    """Another node whose program is the same, where the compiler can tell."""
    ended: bool
    """True if the episode ended here: no action can follow."""
    seconds: float
    """How long the action took, without the work of the server around it."""
    error: Problem | None
    """Why the action failed: such a node has no program to look at."""


class Session(Struct, frozen=True, kw_only=True):
    """One environment with a program, and the tree of what was tried on it."""

    id: str
    environment: str
    benchmark: str
    action_space: str
    reward: str | None
    nodes: list[Node]
    """The root first; every other after its parent."""
    at: int
    """The node where the given episode ended, or the root."""
    idle_seconds: float
    """How long ago its last request was."""
    runs_allowed: bool


class Sessions(Struct, frozen=True, kw_only=True):
    """Every open session, each with the root of its tree only."""

    sessions: list[Session]


class NewNodes(Struct, frozen=True, kw_only=True):
    """Actions to be applied in order, from a node."""

    actions: list[Any]
    """Names or values; those after the first that fails are not applied."""
    parent: int = 0


class Nodes(Struct, frozen=True, kw_only=True):
    """One node for each action, whether it is new or was there already."""

    nodes: list[Node]


class Costs(Struct, frozen=True, kw_only=True):
    """A request to measure costs of nodes."""

    nodes: list[int]
    names: list[str]
    """Observations that are a number."""
    run: bool = False


class CostValues(Struct, frozen=True, kw_only=True):
    """The measured costs of one node; null where a measurement failed."""

    node: int
    costs: dict[str, float | None]
    errors: dict[str, Problem] = field(default_factory=dict[str, Problem])


class Fact(Struct, frozen=True, kw_only=True):
    """The name, the length and the digest of a function, without its text."""

    name: str
    lines: int
    digest: str
    """Equal for functions of equal text."""


class Functions(Struct, frozen=True, kw_only=True):
    """The functions of a state, in the order of its text."""

    node: int
    functions: list[Fact]
    outside: Fact
    """The text outside functions; its name is empty."""


class LineMap(Struct, frozen=True, kw_only=True):
    """Lines of a text and the source's lines they come from, both from 1."""

    lines: list[int]
    sources: list[int]


class Text(Struct, frozen=True, kw_only=True):
    """A text of a state."""

    node: int | None
    language: str
    text: str
    line_map: LineMap | None
    """Where each line comes from in the source; null where that is not known."""


class FunctionDifference(Struct, frozen=True, kw_only=True):
    """How a function differs in two states."""

    name: str
    """Empty for the text outside functions."""
    status: str
    """``same``, ``changed``, ``added`` or ``removed``."""
    added: int
    """The number of lines added."""
    removed: int


class Difference(Struct, frozen=True, kw_only=True):
    """The functions that differ between the states `a` and `b`; their texts are other requests."""

    a: int
    b: int
    functions: list[FunctionDifference]
    """Those with the most changed lines first; functions that are equal come last."""


class GraphNode(Struct, frozen=True, kw_only=True):
    """A node of a graph."""

    id: str
    label: str
    kind: str
    function: str
    status: str
    """``same``, ``changed`` or ``added``, against the state that the request names; else empty."""
    weight: float | None
    """Its size, such as its number of instructions."""


class Edge(Struct, frozen=True, kw_only=True):
    """An edge of a graph."""

    source: str
    target: str
    label: str
    kind: str
    status: str


class Graph(Struct, frozen=True, kw_only=True):
    """A graph of a state, for the page to draw."""

    node: int
    kind: str
    function: str
    nodes: list[GraphNode]
    edges: list[Edge]
    removed_nodes: list[GraphNode]
    """The nodes of the other state that this state does not have."""


class ObservationValue(Struct, frozen=True, kw_only=True):
    """An observation of a state."""

    node: int
    name: str
    value: Any
    text: str
    """The value as the environment writes it."""


# -- tasks ----------------------------------------------------------------------------------------


class NewTryAll(Struct, frozen=True, kw_only=True):
    """A request to try every action on a node."""

    node: int = 0
    costs: list[str] = field(default_factory=list[str])
    """Costs to measure after each action, beside its reward."""
    actions: list[Any] | None = None
    """The actions to try; all of them where this is left out."""


class NewSearch(Struct, frozen=True, kw_only=True):
    """A request for a search that starts from the actions of a node."""

    node: int = 0
    method: str = "portfolio"
    seconds: float = 10.0
    seed: int = 0


class Task(Struct, frozen=True, kw_only=True):
    """Work in the background, whose progress is sent as events."""

    id: str
    kind: str
    """``try-all`` or ``search``."""
    node: int
    total: int | None
    """The number of things to do, where that is known."""
    done: int
    status: str
    """``running``, ``done``, ``cancelled`` or ``failed``."""


class Tried(Struct, frozen=True, kw_only=True):
    """The effect of one action at a node. It adds no node to the tree."""

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
    """The JSON of a stream's event, whose name is its kind.

    ``nodes``: nodes were added. ``removed``: `node` was removed. ``tried``: results of a try-all.
    ``progress``: the progress of a search. ``improved``: a better sequence, whose nodes exist.
    ``task``: a task began or ended; the last event of its stream. ``recovered``: a worker was lost
    and its states were restored. ``closed``: the session was closed.
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
    """The names of an improvement's actions, from the root."""
    problem: Problem | None = None
    node: int | None = None


# -- in and out -----------------------------------------------------------------------------------


class Export(Struct, frozen=True, kw_only=True):
    """A state in every form in which it can be exported."""

    state: dict[str, Any]
    """As ``compiler-gym replay`` and `ImportRequest.text` read it."""
    fragment: str
    """The part after the ``#`` of a permanent link."""
    commandline: str
    """The compiler's own command, where the environment can write one."""
    python: str
    """A Python program that reaches the state."""


class ImportRequest(Struct, frozen=True, kw_only=True):
    """A recording to read: its text, or its path on this machine."""

    text: str | None = None
    """States as JSON, JSON lines or CSV, a search's results, a leaderboard entry, a tuning
    report, or the fragment of a permanent link."""
    path: str | None = None
    """A file of these, or the folder of a run or of what was tuned."""


class Episodes(Struct, frozen=True, kw_only=True):
    """The episodes that were read; `NewSession.episode` takes each of them."""

    kind: str
    """``state``, ``fragment``, ``run``, ``leaderboard`` or ``tuning``."""
    episodes: list[Episode]


class Recording(Struct, frozen=True, kw_only=True):
    """A recording on this machine, as `ImportRequest.path` takes it."""

    kind: str
    """``run``, ``leaderboard`` or ``tuning``."""
    path: str
    """Its folder, from the one where the server was started."""


class Recordings(Struct, frozen=True, kw_only=True):
    """The recordings below the folder where the server was started, the newest first."""

    recordings: list[Recording]
