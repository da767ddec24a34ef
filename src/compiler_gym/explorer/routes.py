# SPDX-License-Identifier: MIT
"""The table of routes: what is asked where, what it takes and what it answers.

The application, the schema and the tests read this one table. A row names the method of
`Api` that serves it.
"""

from dataclasses import dataclass, field
from typing import Any

from compiler_gym.explorer import records

__all__ = ["ROUTES", "Parameter", "Route"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value of a request's query."""

    name: str
    type: type[Any]
    description: str
    default: Any = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """One row."""

    method: str
    path: str
    """As OpenAPI writes it: ``/api/sessions/{session}``; session and task are text, a node is a
    number."""
    name: str
    """The method that serves it, and what clients call it."""
    summary: str
    answer: type[Any] | None
    """None: nothing, with status 204."""
    body: type[Any] | None = None
    query: tuple[Parameter, ...] = ()
    is_stream: bool = False
    """Whether it answers server-sent events, each a record of `answer`."""
    status: int = field(default=200)


_SESSION = "/api/sessions/{session}"
_NODE = f"{_SESSION}/nodes/{{node}}"
_TASK = f"{_SESSION}/tasks/{{task}}"
_RUN_QUERY = Parameter("run", bool, "Whether the program may be run for it.", default=False)
_FUNCTION = Parameter("function", str, "The name of a function; left out: all.")
_AGAINST = Parameter("against", int, "Another node: what differs from it is marked.")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/server", "server", "Say what is served.", records.Server),
    Route(
        "GET", "/api/environments/{environment}", "environment",
        "Describe an environment and its views.", records.Environment,
    ),
    Route(
        "GET", "/api/environments/{environment}/programs", "programs",
        "List programs that are here; nothing is downloaded.", records.Catalogue,
        query=(
            Parameter("dataset", str, "The dataset; left out: all."),
            Parameter("search", str, "A text that their names hold.", default=""),
            Parameter("most", int, "How many to list at most.", default=200),
        ),
    ),
    Route("GET", "/api/sessions", "sessions", "List the open sessions.", records.Sessions),
    Route(
        "POST", "/api/sessions", "open_session",
        "Open a session: reset an environment to a program.", records.Session,
        body=records.NewSession, status=201,
    ),
    Route("GET", _SESSION, "session", "Return a session and its tree.", records.Session),
    Route(
        "GET", f"{_NODE}/actions", "actions",
        "Return the actions there are at a node; programs may decide about them.",
        records.ActionSpace,
    ),
    Route("DELETE", _SESSION, "close_session", "Close a session.", None, status=204),
    Route(
        "GET", f"{_SESSION}/events", "session_events",
        "Stream what happens in a session.", records.Event, is_stream=True,
    ),
    Route(
        "POST", f"{_SESSION}/nodes", "add_nodes",
        "Apply actions from a node; each leads to a node of its own.", records.Nodes,
        body=records.NewNodes, status=201,
    ),
    Route("GET", _NODE, "node", "Return a node.", records.Node),
    Route(
        "DELETE", _NODE, "remove_node",
        "Take a node and all that follows it out of the tree.", None, status=204,
    ),
    Route(
        "POST", f"{_SESSION}/costs", "costs",
        "Measure costs of nodes; what was measured is remembered.", list[records.CostValues],
        body=records.Costs,
    ),
    Route(
        "GET", f"{_SESSION}/baselines", "baselines",
        "Return the costs of the standard levels, by observation.", dict[str, float | None],
        query=(
            Parameter("cost", str, "The cost whose baselines are asked for.", required=True),
            _RUN_QUERY,
        ),
    ),
    Route(
        "GET", f"{_NODE}/functions", "functions",
        "List the functions of a state, with a digest of the text of each.", records.Functions,
    ),
    Route(
        "GET", f"{_NODE}/ir", "ir", "Return the text of a state, or of one function.",
        records.Text, query=(_FUNCTION,),
    ),
    Route(
        "GET", f"{_NODE}/assembly", "assembly",
        "Return the assembly of a state, or of one function.", records.Text, query=(_FUNCTION,),
    ),
    Route("GET", f"{_SESSION}/source", "source", "Return the program's source.", records.Text),
    Route(
        "GET", f"{_SESSION}/difference", "difference",
        "Say which functions differ in two states, and by how much.", records.Difference,
        query=(
            Parameter("a", int, "The state before.", required=True),
            Parameter("b", int, "The state after.", required=True),
        ),
    ),
    Route(
        "GET", f"{_NODE}/graphs/{{kind}}", "graph",
        "Return a picture of a state.", records.Graph, query=(_FUNCTION, _AGAINST),
    ),
    Route(
        "GET", f"{_NODE}/observations/{{name}}", "observation",
        "Return an observation of a state.", records.ObservationValue, query=(_RUN_QUERY,),
    ),
    Route(
        "GET", f"{_NODE}/export", "export",
        "Return a state as JSON, fragment, command line and Python.", records.Export,
    ),
    Route(
        "POST", f"{_SESSION}/try-all", "try_all",
        "Begin to try every action on a node.", records.Task,
        body=records.NewTryAll, status=201,
    ),
    Route(
        "POST", f"{_SESSION}/search", "search",
        "Begin a search that starts from a node's actions.", records.Task,
        body=records.NewSearch, status=201,
    ),
    Route("GET", _TASK, "task", "Say how far a task is.", records.AllTried),
    Route("DELETE", _TASK, "cancel_task", "Cancel a task.", records.Task),
    Route(
        "GET", f"{_TASK}/events", "task_events",
        "Stream what a task finds, from its beginning to its end.", records.Event, is_stream=True,
    ),
    Route(
        "POST", "/api/import", "read_import",
        "Read something recorded and return the episodes in it.", records.Episodes,
        body=records.ImportRequest,
    ),
)  # fmt: skip
"""Every route."""
