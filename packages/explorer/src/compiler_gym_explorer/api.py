# SPDX-License-Identifier: MIT
"""The implementation of every route, as a method that takes and returns records.

Methods run in threads and raise the library's own errors; nothing here depends on HTTP.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.core import CompilerEnv, CompilerEnvState, describe, runs_program
from compiler_gym.errors import CompilerGymError, ExplorerError, ObservationError
from compiler_gym.registration import default_environment, find_compiler, make, recommend_reward
from compiler_gym.spaces import to_plain
from compiler_gym.version import __version__
from compiler_gym_explorer import records
from compiler_gym_explorer.describing import (
    describe_action_space,
    describe_environment,
    environment_names,
)
from compiler_gym_explorer.explored import Explored
from compiler_gym_explorer.log import Log
from compiler_gym_explorer.pictures import draw_graph, find_pane
from compiler_gym_explorer.porting import export_state, import_episodes, recordings
from compiler_gym_explorer.programs import (
    detect_format,
    open_named_program,
    open_pasted_program,
    read_source,
)
from compiler_gym_explorer.registry import Registry
from compiler_gym_explorer.settings import Settings
from compiler_gym_explorer.tasks import METHODS, Searching, TryingAll, Working
from compiler_gym_explorer.texts import Listings, difference, list_functions, make_text
from compiler_gym_explorer.tree import Tree

__all__ = ["Api", "Asked"]

_MOST_TASKS = 4
_MOST_KEPT = 16
"""The maximum numbers of running and of stored finished tasks per session."""
_MOST_SECONDS = 24 * 3600.0
_MOST_LISTED = 5000


@dataclass(frozen=True, slots=True)
class Asked:
    """A parsed and validated request."""

    path: Mapping[str, Any] = field(default_factory=dict[str, Any])
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None


class Api:
    """The explorer's API. `close` ends every session."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.registry = Registry(settings.most_sessions, settings.idle_seconds)
        self._described: dict[str, records.Environment] = {}

    def close(self) -> None:
        """End every session."""
        self.registry.close()

    # -- server and environments ----------------------------------------------------------------

    def server(self, asked: Asked) -> records.Server:
        """Describe the server."""
        settings = self.settings
        return records.Server(
            version=__version__,
            environments=environment_names(),
            default_environment=settings.environment or default_environment(),
            program=settings.program,
            source=settings.source,
            most_sessions=settings.most_sessions,
            idle_seconds=settings.idle_seconds,
            most_body_bytes=settings.most_body_bytes,
            search_methods=list(METHODS),
        )

    def environment(self, asked: Asked) -> records.Environment:
        """Describe an environment."""
        id = asked.path["environment"]
        if id not in self._described:
            with self._make(id) as env:
                self._described[id] = describe_environment(id, env)
        return self._described[id]

    def programs(self, asked: Asked) -> records.Catalogue:
        """List programs."""
        query = asked.query
        most = min(max(query["most"], 1), _MOST_LISTED)
        with self._make(asked.path["environment"]) as env:
            name = query["dataset"]
            datasets = [env.datasets.dataset(name)] if name else list(env.datasets.datasets())
            matches = (
                str(uri)
                for dataset in datasets
                if dataset.installed
                for uri in islice(dataset.benchmark_uris(), 10 * _MOST_LISTED)
                if query["search"].lower() in str(uri).lower()
            )
            listed = list(islice(matches, most + 1))
        return records.Catalogue(benchmarks=listed[:most], more=len(listed) > most)

    # -- sessions -------------------------------------------------------------------------------

    def sessions(self, asked: Asked) -> records.Sessions:
        """List the open sessions."""
        sessions: list[records.Session] = []
        for session in self.registry.all():
            try:
                sessions.append(session.record(whole=False))
            except CompilerGymError:
                if not session.is_closed:  # it may have been closed in the meantime
                    raise
        return records.Sessions(sessions=sessions)

    def open_session(self, asked: Asked) -> records.Session:
        """Open a session."""
        new = _complete_request(asked.body)
        id = new.environment or self.settings.environment or default_environment()
        with self.registry.place():
            options: dict[str, Any] = {"action_space": new.action_space} if new.action_space else {}
            env = self._make(id, **options)
            try:
                session = self._open_session(id, env, new)
            except BaseException:
                env.close()
                raise
            self.registry.add(session)
        return session.record()

    def session(self, asked: Asked) -> records.Session:
        """Return a session."""
        return self._session(asked).record()

    def close_session(self, asked: Asked) -> None:
        """Close a session."""
        self.registry.remove(asked.path["session"])

    def session_events(self, asked: Asked) -> tuple[Log, int]:
        """Return the log of a session and the number of its next event."""
        log = self._session(asked).log
        return log, log.next_number

    # -- nodes ----------------------------------------------------------------------------------

    def add_nodes(self, asked: Asked) -> records.Nodes:
        """Apply actions."""
        body: records.NewNodes = asked.body
        return records.Nodes(nodes=self._session(asked).add(body.parent, body.actions))

    def node(self, asked: Asked) -> records.Node:
        """Return a node."""
        id = asked.path["node"]
        return self._session(asked).work(lambda tree, _: tree.node(tree.state(id)))

    def remove_node(self, asked: Asked) -> None:
        """Remove a node."""
        self._session(asked).remove(asked.path["node"])

    def actions(self, asked: Asked) -> records.ActionSpace:
        """Return the actions at a node."""

        def describe_actions(env: CompilerEnv) -> records.ActionSpace:
            space, settings = env.action_space, env.episode.selection.action_spec.sets
            plain = next(
                (row for row in describe("", env)["action_spaces"] if row["name"] == space.name),
                None,
            )
            if plain is None:
                raise ExplorerError("this action space has no name", status=404)
            return msgspec.structs.replace(
                describe_action_space(env, space, plain), settings=bool(settings)
            )

        id = asked.path["node"]
        return self._session(asked).work(lambda tree, _: tree.use(tree.state(id), describe_actions))

    def costs(self, asked: Asked) -> list[records.CostValues]:
        """Measure costs."""
        body: records.Costs = asked.body
        session = self._session(asked)
        session.require_allowed(body.names, run=body.run)
        return session.measure(body.nodes, body.names)

    def baselines(self, asked: Asked) -> dict[str, float | None]:
        """Return the costs of the standard levels, by level name."""
        session, name = self._session(asked), asked.query["cost"]

        def find_levels(tree: Tree, _: Listings) -> dict[str, str]:
            pane = next((pane for pane in tree.panes.costs if pane.observation == name), None)
            if pane is None:
                raise ExplorerError(f"this environment has no cost {name}", status=404)
            available = tree.env.observation
            return {title: key for title, key in pane.baselines.items() if key in available}

        levels = session.work(find_levels)
        session.require_allowed(list(levels.values()), run=asked.query["run"])
        (values,) = session.measure([0], list(levels.values()))
        return {title: values.costs[key] for title, key in levels.items()}

    # -- views of a state -------------------------------------------------------------------------

    def functions(self, asked: Asked) -> records.Functions:
        """List the functions of a state."""
        session, id = self._session(asked), asked.path["node"]
        pane = session.text_pane("text")
        return session.work(
            lambda tree, listings: list_functions(listings.of(tree.state(id), pane), id)
        )

    def ir(self, asked: Asked) -> records.Text:
        """Return the text of a state."""
        return self._text(asked, "text")

    def assembly(self, asked: Asked) -> records.Text:
        """Return the assembly of a state."""
        return self._text(asked, "assembly")

    def source(self, asked: Asked) -> records.Text:
        """Return the program's source: as pasted, or from its benchmark or environment."""
        session = self._session(asked)
        text, language = read_source(session.program), ""
        if session.source is not None:
            text, language = session.source.text, session.source.language or ""

        def observe(tree: Tree, _: Listings) -> str:
            pane = tree.panes.source
            if pane is None or pane.observation not in tree.env.observation:
                return ""
            return pane.read(str(tree.env.observation[pane.observation])).text

        text = text or session.work(observe)
        if not text:
            raise ExplorerError(
                f"{session.program.uri} has no source: it was imported in compiled form", status=404
            )
        return records.Text(node=None, language=language, text=text, line_map=None)

    def difference(self, asked: Asked) -> records.Difference:
        """Compare two states."""
        session, a, b = self._session(asked), asked.query["a"], asked.query["b"]
        pane = session.text_pane("text")

        def compare(tree: Tree, listings: Listings) -> records.Difference:
            before = listings.of(tree.state(a), pane)
            return difference(a, before, b, listings.of(tree.state(b), pane))

        return session.work(compare)

    def graph(self, asked: Asked) -> records.Graph:
        """Draw a state."""
        path, query = asked.path, asked.query

        def draw(tree: Tree, listings: Listings) -> records.Graph:
            state = tree.state(path["node"])
            other = None if query["against"] is None else tree.state(query["against"])
            pane = find_pane(tree.panes, path["kind"])
            return draw_graph(tree, listings, state, pane, query["function"], other)

        return self._session(asked).work(draw)

    def observation(self, asked: Asked) -> records.ObservationValue:
        """Return an observation of a state."""
        session, id, name = self._session(asked), asked.path["node"], asked.path["name"]
        session.require_allowed([name], run=asked.query["run"])

        def observe(env: CompilerEnv) -> tuple[Any, str]:
            value = env.observation[name]
            return value, env.observation.spec(name).to_string(value)

        value, text = session.work(lambda tree, _: tree.use(tree.state(id), observe))
        return records.ObservationValue(
            node=id, name=name, value=_observation_json(name, value), text=text
        )

    def export(self, asked: Asked) -> records.Export:
        """Return a state in every export format."""
        session, id = self._session(asked), asked.path["node"]
        return session.work(
            lambda tree, _: export_state(tree, tree.state(id), session.environment, session.source)
        )

    # -- tasks ------------------------------------------------------------------------------

    def try_all(self, asked: Asked) -> records.Task:
        """Start a task that tries every action."""
        session, body = self._session(asked), asked.body
        session.require_allowed(body.costs, run=False)
        return _start_task(session, partial(TryingAll, session, body))

    def search(self, asked: Asked) -> records.Task:
        """Start a search."""
        session, body = self._session(asked), asked.body
        if not 0 < body.seconds <= _MOST_SECONDS:
            raise ExplorerError(f"seconds must be above 0 and at most a day (got {body.seconds:g})")
        return _start_task(session, partial(Searching, session, body))

    def task(self, asked: Asked) -> records.AllTried:
        """Return the progress of a task."""
        task = self._task(asked)
        return records.AllTried(task=task.record(), tried=list(task.tried))

    def cancel_task(self, asked: Asked) -> records.Task:
        """Cancel a task."""
        task = self._task(asked)
        task.cancel()
        task.join(5.0)
        return task.record()

    def task_events(self, asked: Asked) -> tuple[Log, int]:
        """Return the log of a task and the number of its first event."""
        return self._task(asked).log, 0

    def recordings(self, asked: Asked) -> records.Recordings:
        """List the recordings below the folder where the server was started."""
        return records.Recordings(recordings=recordings(Path.cwd()))

    def read_import(self, asked: Asked) -> records.Episodes:
        """Read recorded episodes."""
        return import_episodes(asked.body)

    # -- helpers ----------------------------------------------------------------------------

    def _make(self, id: str, **options: Any) -> CompilerEnv:
        ids = [environment.id for environment in environment_names()]
        if id not in ids:
            from compiler_gym.errors import unknown_name

            raise ExplorerError(unknown_name("environment", id, ids), status=404)
        return make(id, **self.settings.limits, **options)

    def _open_session(self, id: str, env: CompilerEnv, new: records.NewSession) -> Explored:
        if new.source is not None:  # record the detected language
            language = detect_format(find_compiler(id), new.source).name
            source = msgspec.structs.replace(new.source, language=language)
            new = msgspec.structs.replace(new, source=source)
        program = _request_program(id, env, new)
        reward = new.reward or recommend_reward(id, env)
        if reward is not None:
            env.reward_space = reward
            observations = env.reward.spec(reward).observation_spaces
            if any(runs_program(env, name) for name in observations) and not new.run:
                raise ExplorerError(
                    f"{reward} runs the program, which needs run=true",
                    status=403,
                    next="open the session with run=true",
                )
        actions = _episode_actions(env, new, program)
        space = env.episode.selection.action_space_name
        make_another = partial(
            self._make, id, action_space=space, **({"reward_space": reward} if reward else {})
        )
        session = Explored(id, make_another, env, program, new.source, may_run=new.run)
        session.start(actions)
        return session

    def _session(self, asked: Asked) -> Explored:
        session = self.registry.session(asked.path["session"])
        session.touch()
        return session

    def _task(self, asked: Asked) -> Working:
        tasks = self._session(asked).tasks
        id = asked.path["task"]
        if id not in tasks:
            raise ExplorerError(f"there is no task {id!r}", status=404)
        return tasks[id]

    def _text(self, asked: Asked, which: str) -> records.Text:
        session, id = self._session(asked), asked.path["node"]
        pane = session.text_pane(which)

        def read_text(tree: Tree, listings: Listings) -> records.Text:
            listing = listings.of(tree.state(id), pane)
            return make_text(listing, pane, id, asked.query["function"])

        return session.work(read_text)


def _complete_request(new: records.NewSession) -> records.NewSession:
    """Return the request with missing fields taken from its episode."""
    episode = new.episode
    if episode is None:
        return new
    has_program = new.benchmark is not None or new.source is not None
    return msgspec.structs.replace(
        new,
        environment=new.environment or episode.environment,
        benchmark=new.benchmark if has_program else episode.benchmark,
        source=new.source if has_program else episode.source,
        action_space=new.action_space or episode.action_space,
        reward=new.reward or episode.reward_space,
    )


def _request_program(id: str, env: CompilerEnv, new: records.NewSession) -> Any:
    if new.source is not None and new.benchmark is not None:
        raise ExplorerError("give either a benchmark or a source, not both")
    if new.source is not None:
        return open_pasted_program(env, find_compiler(id), new.source)
    if new.benchmark is not None:
        return open_named_program(env, new.benchmark, find_compiler(id))
    if env.default_benchmark is None:
        raise ExplorerError("no program given: name a benchmark or a path, or paste a source")
    return env.datasets.benchmark(env.default_benchmark)


def _episode_actions(env: CompilerEnv, new: records.NewSession, program: Any) -> list[Any]:
    """Return the actions of the request's episode, as members of its action space."""
    episode = new.episode
    if episode is None:
        return []
    if episode.actions is not None:
        return episode.actions
    if not episode.commandline:
        return []
    record = CompilerEnvState(str(program.uri), episode.commandline, action_space=new.action_space)
    return [to_plain(action) for action in env.actions_from(record)]


def _start_task(session: Explored, make_task: Callable[[], Working]) -> records.Task:
    running = [task for task in session.tasks.values() if task.is_running]
    if len(running) >= _MOST_TASKS:
        raise ExplorerError(
            f"this session already has {_MOST_TASKS} running tasks, the maximum",
            status=429,
            next="cancel one of them",
        )
    finished = [id for id, task in session.tasks.items() if not task.is_running]
    for id in finished[:-_MOST_KEPT]:
        del session.tasks[id]
    task = make_task()
    task.start()
    return task.record()


def _observation_json(name: str, value: Any) -> Any:
    """Return an observation as JSON; raise `ObservationError` if it has no JSON form."""
    try:
        plain = to_plain(value)
        msgspec.json.encode(plain)
    except (TypeError, ValueError) as error:
        raise ObservationError(
            f"{name} cannot be shown as JSON; choose an observation of numbers and text"
        ) from error
    return plain
