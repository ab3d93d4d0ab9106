"""Machines of a study chosen by what those before came to, in rounds (tree-structured Parzen estimator, Bergstra 2011).

Of Optuna's samplers this finds the front with the fewest machines: on 252 machines of a model study with a front of 13,
40 of them hold 7 or 8 of it; 2 or 3 with NSGA-II, 1 or 2 at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..extras import extra
from ..interruption import requested
from ..machine.changes import Value
from .sweep_spec import Study

ROUND = 5
"""Machines of a round; the same for any number of processes, and so is what is found."""

TRIES = 20
"""Rounds in a row that bring no machine which is not known, after which the search ends."""

Figures = Callable[[Sequence[Mapping[str, Value]]], list[tuple[float, ...] | None]]


def search(study: Study, figures: Figures) -> None:
    """Ask for the `figures` of `study.search` different machines at most, a round at a time.

    Values of attributes are ordered as the study gives them.  Machines without a program teach nothing.
    `TilewrightError` (kind `usage`) without Optuna.
    """
    optuna = extra("optuna", "search", "search")
    chosen = _study(optuna, study)
    known: dict[tuple[Value, ...], tuple[float, ...] | None] = {}
    idle = 0
    while len(known) < study.search and idle < TRIES and not requested():
        trials = [chosen.ask() for _ in range(ROUND)]
        machines = [_machine(study, trial) for trial in trials]
        new = list({tuple(one.values()): one for one in machines if tuple(one.values()) not in known}.values())
        new = new[: study.search - len(known)]
        idle = 0 if new else idle + 1
        known |= zip((tuple(one.values()) for one in new), figures(new), strict=True)
        for trial, machine in zip(trials, machines, strict=True):
            found = known.get(tuple(machine.values()))
            state = optuna.trial.TrialState.COMPLETE if found is not None else optuna.trial.TrialState.FAIL
            chosen.tell(trial, found, state=state)


def _study(optuna: Any, study: Study) -> Any:
    """Optuna's study, which keeps nothing and says nothing."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(seed=study.seed, multivariate=True, constant_liar=True)
        return optuna.create_study(directions=["minimize"] * len(study.objectives), sampler=sampler)


def _machine(study: Study, trial: Any) -> dict[str, Value]:
    return {
        path: values[trial.suggest_int(path, 0, len(values) - 1) if len(values) > 1 else 0]
        for path, values in study.attributes.items()
    }
