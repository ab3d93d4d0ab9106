"""A broken rule of a machine, before it is known where the text or the IR says so."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .model import Mnemonic


@dataclass(frozen=True)
class Complaint:
    """`subject` is a declaration: `memory X`, `link A->B`, `capability N.c`, `mnemonic M`, `field M.F`, `isa`, ..."""

    subject: str
    expected: str
    found: str
    lever: str = ""


def repeated(names: Iterable[tuple[str, str]], expected: str) -> Iterator[Complaint]:
    """A complaint for each (name, subject) whose name came before."""
    seen: set[str] = set()
    for name, subject in names:
        if name in seen:
            yield Complaint(subject, expected, f"`{name}` twice")
        seen.add(name)


def exactly(
    subject: str, what: str, expected: Iterable[str], found: Iterable[str], lever: str = ""
) -> Iterator[Complaint]:
    """A complaint if the names found are not those expected, each as often, in any order."""
    expected, found = list(expected), list(found)
    if sorted(expected) != sorted(found):
        yield Complaint(subject, f"{what} {', '.join(expected) or 'none'}", ", ".join(found) or "none", lever)


def role_complaints(
    mnemonic: Mnemonic, actions: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> Iterator[Complaint]:
    """What is wrong with a mnemonic's action and its roles; `actions` has the required and optional ones of each."""
    subject, action = f"mnemonic {mnemonic.name}", mnemonic.action
    if action is None or action.kind not in actions:
        found = "none" if action is None else f"`{action.kind}`"
        yield Complaint(subject, f"an action among {', '.join(actions)}", found)
        return
    required, optional = actions[action.kind]
    names = [name for name, _ in action.roles]
    yield from repeated([(name, subject) for name in names], f"each role of {action.kind} once")
    missing = [name for name in required if name not in names]
    unknown = [name for name in names if name not in (*required, *optional)]
    if missing or unknown:
        found = f"no {missing[0]}" if missing else f"`{unknown[0]}`"
        lever = f"bind a field or a number to {missing[0]}" if missing else f"leave {unknown[0]} out"
        yield Complaint(subject, f"roles {', '.join((*required, *optional)) or 'none'} of {action.kind}", found, lever)
