# SPDX-License-Identifier: MIT
"""LLVM sessions with plug-ins, on an engine that shares its LLVM with them.

The usual engine contains LLVM and hides its symbols, so that it cannot clash with another copy;
a plug-in would find none of them. Here the same engine, linked with libLLVM, takes its place in a
process that serves only these plug-ins.
"""

import re
import sys
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

import compiler_gym
from compiler_gym.envs.llvm.toolchain.plugins.plugin import Plugin
from compiler_gym.envs.llvm.toolchain.tools import name_package
from compiler_gym.errors import (
    CompilerFatalError,
    EnvironmentNotSupported,
    PipelineError,
    PluginError,
)
from compiler_gym.files import read_regular
from compiler_gym.session import (
    ActionSpaceSpec,
    CommandlineSpec,
    CompilerSession,
    DictSpec,
    FlagSpec,
)

__all__ = ["PluginSession"]

_ENGINE = "compiler_gym._llvm"
_NEEDED = re.compile(rb"\0(libLLVM[-.][\w.-]*)(?=\0)")
_EXTENDED = ("Passes", "PassesAll", "PassesAndPipelines", "PassesAndCodegen", "Parameters")
"""The action spaces to which the passes are appended."""
_WITHOUT = ("Marks", "MarksAndCodegen")
"""The action spaces whose command lines cannot load plug-ins."""


class PluginSession(CompilerSession):
    """The entry point for sessions with plug-ins: `prepare` returns the actual session class."""

    @classmethod
    def prepare(cls, options: dict[str, str]) -> type[CompilerSession]:
        """Return the session class of LLVM with the plug-ins and passes in `options`.

        Raises `PluginError` for a file that this LLVM cannot load, and for passes that no plug-in
        adds or that already exist; `EnvironmentNotSupported` if the engine is missing.
        """
        plugins = msgspec.json.decode(options["plugins"], type=list[Plugin])
        passes = msgspec.json.decode(options["passes"], type=list[str])
        engine = _load_shared_engine()
        _refuse_known(engine, passes)
        for plugin in plugins:
            _require_same(plugin, str(engine.LLVM_VERSION))
            _load(engine, plugin)
        items = tuple(_plugin_flag(engine, name, plugins) for name in passes)
        return _session_with(items, plugins)


def _load_shared_engine() -> Any:
    """Load the engine that shares LLVM in place of the usual one."""
    loaded = sys.modules.get(_ENGINE)
    if loaded is not None:
        if loaded.shares_llvm():
            return loaded
        raise PluginError(
            "this process has already loaded an engine without support for plug-ins; use "
            "isolation='process'"
        )
    # Search next to the usual engine: in a checkout, it is not in the source folder.
    for folder, suffix in product(compiler_gym.__path__, EXTENSION_SUFFIXES):
        path = Path(folder) / "_shared" / f"_llvm{suffix}"
        if path.is_file():
            return _load_library(path)
    raise EnvironmentNotSupported(
        "plug-ins need an engine that shares LLVM with them, but this installation has none; run "
        f"`apt install {name_package('dev')}`, then install this package from its sources "
        "(`make setup` in a checkout)"
    )


def _load_library(path: Path) -> Any:
    spec = spec_from_file_location(_ENGINE, path)
    assert spec is not None
    assert spec.loader is not None
    try:
        engine = module_from_spec(spec)
        spec.loader.exec_module(engine)
    except ImportError as error:
        raise EnvironmentNotSupported(
            f"cannot load the engine that shares LLVM: {error}; run `apt install libllvm22`"
        ) from error
    sys.modules[_ENGINE] = engine
    compiler_gym.__dict__["_llvm"] = engine  # for `from compiler_gym import _llvm`
    return engine


def _refuse_known(engine: Any, passes: list[str]) -> None:
    for name in passes:
        try:
            engine.pipeline_of_pass(name)
        except PipelineError:
            continue
        raise PluginError(
            f"passes names {name!r}, which is one of LLVM's own passes; give the plug-in's pass "
            "a different name"
        )


def _require_same(plugin: Plugin, version: str) -> None:
    """Raise `PluginError` if the file has changed or was linked with another LLVM.

    Such a library would load a second LLVM, and the two would share global variables.
    """
    try:
        contents = read_regular(plugin.path)
    except OSError as error:
        raise PluginError(f"cannot read the plug-in {plugin.path}: {error.strerror}") from error
    if sha256(contents).hexdigest() != plugin.hash:
        raise PluginError(f"{plugin.path} has changed; make the environment again")
    major, minor, _ = version.split(".", 2)
    supported = {f"libLLVM.so.{major}.{minor}", f"libLLVM-{major}.so", f"libLLVM-{major}.so.1"}
    for needed in _NEEDED.findall(contents):
        if needed.decode() not in supported:
            raise PluginError(
                f"{plugin.path} was linked with {needed.decode()}, but this is LLVM {version}; "
                f"build it with the headers in llvm-{major}-dev"
            )


def _load(engine: Any, plugin: Plugin) -> None:
    try:
        engine.load_plugin(plugin.path)
    except CompilerFatalError as error:  # for example if it redefines an option of LLVM
        raise PluginError(f"cannot load {plugin.path}: LLVM aborted: {error}") from error


def _plugin_flag(engine: Any, name: str, plugins: list[Plugin]) -> FlagSpec:
    """Return the action for the pass `name`, which exactly one plug-in must add."""
    adders: list[Plugin] = []
    text, refusal = "", ""
    for number, plugin in enumerate(plugins):
        try:
            text = engine.pipeline_of_pass(name, number)
        except PipelineError as error:
            refusal = str(error)
            continue
        adders.append(plugin)
    files = ", ".join(plugin.path for plugin in adders or plugins)
    if not adders:
        raise PluginError(f"no pass {name!r} in {files}: {refusal}")
    if len(adders) > 1:
        raise PluginError(f"several plug-ins have a pass {name!r}: {files}")
    return FlagSpec(name, text, f"A pass from the plug-in {adders[0].identity}")


def _session_with(items: tuple[FlagSpec, ...], plugins: list[Plugin]) -> type[CompilerSession]:
    from compiler_gym.envs.llvm.session import LlvmSession  # requires the engine to be loaded

    version = "+".join([LlvmSession.compiler_version, *(p.identity for p in plugins)])
    spaces = tuple(
        _extend(spec, items)
        for spec in LlvmSession.action_spaces
        if (spec.name in _EXTENDED if items else spec.name not in _WITHOUT)
    )
    facts = {
        "compiler_version": version,
        "action_spaces": spaces,
        "__doc__": LlvmSession.__doc__,
    }
    return type(LlvmSession.__name__, (LlvmSession,), facts)


def _extend(spec: ActionSpaceSpec, items: tuple[FlagSpec, ...]) -> ActionSpaceSpec:
    """Return an action space with the passes appended, so other actions keep their numbers."""
    if not items or spec.name not in _EXTENDED:
        return spec
    space = spec.space
    passes = space.items["pass"] if isinstance(space, DictSpec) else space
    assert isinstance(passes, CommandlineSpec)
    passes = msgspec.structs.replace(passes, items=passes.items + items)
    if isinstance(space, DictSpec):
        passes = msgspec.structs.replace(space, items={**space.items, "pass": passes})
    return msgspec.structs.replace(spec, space=passes)
