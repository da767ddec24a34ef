# SPDX-License-Identifier: MIT
"""Sessions with plug-ins: those of LLVM, over an engine that shares its LLVM.

The usual engine has LLVM inside and hides it, so that it cannot clash with another; a
plug-in finds none of its symbols. The same engine linked with libLLVM takes its place here,
in a process that serves these plug-ins alone.
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
"""The action spaces that get the passes, behind what they have."""
_WITHOUT = ("Marks", "MarksAndCodegen")
"""Those whose command lines load no plug-in."""


class PluginSession(CompilerSession):
    """What `prepare` makes sessions of; it is none itself."""

    @classmethod
    def prepare(cls, options: dict[str, str]) -> type[CompilerSession]:
        """Return the sessions of LLVM with the plug-ins and passes that `options` name.

        Raises `PluginError` for a file that this LLVM cannot load and for passes that no
        plug-in adds or that exist already, `EnvironmentNotSupported` without an engine.
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
    """Load the engine that shares LLVM in the place of the usual one."""
    loaded = sys.modules.get(_ENGINE)
    if loaded is not None:
        if loaded.shares_llvm():
            return loaded
        raise PluginError(
            "this process has an engine that takes no plug-ins: expected a process of their own, "
            "as isolation='process' gives"
        )
    # Where the usual one is: a checkout has its modules elsewhere than its sources.
    for folder, suffix in product(compiler_gym.__path__, EXTENSION_SUFFIXES):
        path = Path(folder) / "_shared" / f"_llvm{suffix}"
        if path.is_file():
            return _load_library(path)
    raise EnvironmentNotSupported(
        "plug-ins need an engine that shares LLVM with them, and this installation has none: "
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
            f"the engine that shares LLVM cannot be loaded: {error}: `apt install libllvm22`"
        ) from error
    sys.modules[_ENGINE] = engine
    compiler_gym.__dict__["_llvm"] = engine  # what `from compiler_gym import _llvm` looks at
    return engine


def _refuse_known(engine: Any, passes: list[str]) -> None:
    for name in passes:
        try:
            engine.pipeline_of_pass(name)
        except PipelineError:
            continue
        raise PluginError(
            f"passes names {name!r}, which is a pass of LLVM itself: a plug-in's needs a name of "
            "its own"
        )


def _require_same(plugin: Plugin, version: str) -> None:
    """Raise `PluginError` if the file is another by now, or was linked with another LLVM.

    A library that brings its own LLVM would load it, and two of them share global variables.
    """
    try:
        contents = read_regular(plugin.path)
    except OSError as error:
        raise PluginError(f"the plug-in {plugin.path} cannot be read: {error.strerror}") from error
    if sha256(contents).hexdigest() != plugin.hash:
        raise PluginError(f"{plugin.path} has changed since it was asked for: make it again")
    major, minor, _ = version.split(".", 2)
    ours = {f"libLLVM.so.{major}.{minor}", f"libLLVM-{major}.so", f"libLLVM-{major}.so.1"}
    for needed in _NEEDED.findall(contents):
        if needed.decode() not in ours:
            raise PluginError(
                f"{plugin.path} was linked with {needed.decode()}, and this is LLVM {version}: "
                f"build it with the headers of llvm-{major}-dev"
            )


def _load(engine: Any, plugin: Plugin) -> None:
    try:
        engine.load_plugin(plugin.path)
    except CompilerFatalError as error:  # for example an option that LLVM has already
        raise PluginError(f"{plugin.path} cannot be loaded, LLVM gave up: {error}") from error


def _plugin_flag(engine: Any, name: str, plugins: list[Plugin]) -> FlagSpec:
    """Return the action of the pass `name`, which one of the plug-ins must add."""
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
        raise PluginError(f"passes names {name!r}, which none of {files} adds: {refusal}")
    if len(adders) > 1:
        raise PluginError(f"passes names {name!r}, which several plug-ins add: {files}")
    return FlagSpec(name, text, f"A pass of the plug-in {adders[0].identity}")


def _session_with(items: tuple[FlagSpec, ...], plugins: list[Plugin]) -> type[CompilerSession]:
    from compiler_gym.envs.llvm.session import LlvmSession  # it needs the engine

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
    """Return an action space with more passes, whose other actions keep their numbers."""
    if not items or spec.name not in _EXTENDED:
        return spec
    space = spec.space
    passes = space.items["pass"] if isinstance(space, DictSpec) else space
    assert isinstance(passes, CommandlineSpec)
    passes = msgspec.structs.replace(passes, items=passes.items + items)
    if isinstance(space, DictSpec):
        passes = msgspec.structs.replace(space, items={**space.items, "pass": passes})
    return msgspec.structs.replace(spec, space=passes)
