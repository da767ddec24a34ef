# SPDX-License-Identifier: MIT
"""Tune a project with its own build system and compiler.

``request`` holds the user's options, ``goal`` the quantity to improve. ``job`` runs one tuning:
``project`` is the copy of the project with its recorded build, a ``tuner`` finds the decisions for
a binary, ``proving`` reverts those with which a test fails, ``confirming`` measures the speed
again, ``explaining`` measures the gain from each decision, and ``handing_over`` writes the results,
which ``rebuilding`` tests with the project's own build. ``timetable`` divides the time
between these phases, ``size_search`` searches a compiler's decisions within a limit and keeps a
journal, and ``runs`` runs the user's commands. ``plan`` stores
the decisions in a file, ``reading`` refuses plans that no tuner can have made, ``recipes`` are the
plans that we ship, and ``applying`` uses a plan in a normal build. ``summary`` holds the results,
``report`` writes them with templates, and ``difference`` compares two tunings. ``builds`` finds the
binaries and sources of a build, and ``llvm`` is the tuner for LLVM.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.tune.applying import apply_plan, driver_facts, list_changed_sources
    from compiler_gym.tools.tune.difference import (
        BinaryDifference,
        PlanDifference,
        compare_plans,
        read_tuned,
    )
    from compiler_gym.tools.tune.goal import Goal, Measure, columns
    from compiler_gym.tools.tune.handing_over import Result
    from compiler_gym.tools.tune.job import TuningJob
    from compiler_gym.tools.tune.plan import (
        PLAN_FILE,
        BinaryPlan,
        BuildPlan,
        Meaning,
        SourceFile,
        list_sources,
        write_plan,
    )
    from compiler_gym.tools.tune.project import TuningWatcher
    from compiler_gym.tools.tune.reading import (
        read_plan,
        require_among,
        require_nothing_in,
    )
    from compiler_gym.tools.tune.recipes import (
        Kind,
        Provenance,
        TuningRecipe,
        list_shipped_recipes,
        policy_named,
        read_recipe,
        recipe_for,
        recipe_named,
    )
    from compiler_gym.tools.tune.report import render_page, write_report
    from compiler_gym.tools.tune.request import Request
    from compiler_gym.tools.tune.runs import RunCommand
    from compiler_gym.tools.tune.size_search import (
        JOURNAL,
        Allowance,
        Journal,
        SizeSearch,
        State,
        Tried,
        Work,
    )
    from compiler_gym.tools.tune.summary import (
        BinarySummary,
        ReportedDecision,
        SourceSize,
        TuningSummary,
        share,
    )
    from compiler_gym.tools.tune.tuner import (
        Build,
        Found,
        FunctionSize,
        Tuner,
        TuningSubject,
        require_honoured,
        tuner_named,
    )

__all__ = [
    "JOURNAL",
    "PLAN_FILE",
    "Allowance",
    "BinaryDifference",
    "BinaryPlan",
    "BinarySummary",
    "Build",
    "BuildPlan",
    "Found",
    "FunctionSize",
    "Goal",
    "Journal",
    "Kind",
    "Meaning",
    "Measure",
    "PlanDifference",
    "Provenance",
    "ReportedDecision",
    "Request",
    "Result",
    "RunCommand",
    "SizeSearch",
    "SourceFile",
    "SourceSize",
    "State",
    "Tried",
    "Tuner",
    "TuningJob",
    "TuningRecipe",
    "TuningSubject",
    "TuningSummary",
    "TuningWatcher",
    "Work",
    "apply_plan",
    "columns",
    "compare_plans",
    "driver_facts",
    "list_changed_sources",
    "list_shipped_recipes",
    "list_sources",
    "policy_named",
    "read_plan",
    "read_recipe",
    "read_tuned",
    "recipe_for",
    "recipe_named",
    "render_page",
    "require_among",
    "require_honoured",
    "require_nothing_in",
    "share",
    "tuner_named",
    "write_plan",
    "write_report",
]

__getattr__ = door(__name__)
