"""The errors that tilewright shows to people: subject, what was expected, what was found, what to change."""

import tempfile
import traceback

INTERNAL = 70
"""Exit code of a fault that is ours, as sysexits.h has it."""


class TilewrightError(Exception):
    """A problem in the user's input, told in one paragraph.

    `kind` is a short stable word (`parse`, `unsupported`, `shape`, `infeasible`, `target`, `program`, ...);
    `subject` names the thing at fault (node, tensor, file:line:column, ...); `expected` and `found` say what differs;
    `lever` says what to change.  The command line prints the paragraph, or the five fields as JSON, and exits with 1.
    """

    def __init__(self, kind: str, subject: str, expected: str, found: str, lever: str = "") -> None:
        self.kind = kind
        self.subject = subject
        self.expected = expected
        self.found = found or "''"  # an empty text
        self.lever = lever
        super().__init__(self.paragraph())

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.__dict__)

    def paragraph(self) -> str:
        """The whole message as one paragraph of text."""
        text = f"{self.subject}: expected {self.expected}, found {self.found}"
        return f"{text}; {self.lever}" if self.lever else text

    def as_dict(self) -> dict[str, object]:
        """The error as the command line's JSON has it."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "expected": self.expected,
            "found": self.found,
            "lever": self.lever,
        }


def check_type(subject: str, value: object, types: type | tuple[type, ...], told: str) -> None:
    """Raise `TilewrightError` (kind `type`) where a caller gave a `value` of none of `types`; `told` names them."""
    if not isinstance(value, types):
        raise TilewrightError("type", subject, told, f"a value of type {type(value).__name__}", "give one of those")


def shorten(text: str, limit: int = 2000) -> str:
    """The text, without its middle where it is longer than `limit`."""
    return text if len(text) <= limit else f"{text[: limit // 2]} ... {text[-limit // 2 :]}"


def internal_error(error: BaseException) -> TilewrightError:
    """The error for people about a fault that is ours; its traceback goes to a file in the folder for such files."""
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile("w", prefix="tilewright-", suffix=".txt", delete=False) as stream:
            stream.write(text.encode(errors="backslashreplace").decode())
        lever = f"this is a fault of tilewright, not yours: please report it with {stream.name}"
    except OSError:
        lever = "this is a fault of tilewright, not yours; there was no room for a file that tells more"
    return TilewrightError("internal", "tilewright", "no fault of its own", f"{type(error).__name__}: {error}", lever)


def _again(kind: type[TilewrightError], fields: dict[str, object]) -> TilewrightError:
    """An error as it was in another process."""
    error = kind.__new__(kind)
    error.__dict__.update(fields)
    Exception.__init__(error, error.paragraph())
    return error


class InfeasibleError(TilewrightError):
    """A demand that a resource cannot meet.

    `demand` and `bound` are in `unit`; `lever` names the smallest change that would fit.
    """

    def __init__(self, resource: str, demand: float, bound: float, unit: str, lever: str, subject: str = "") -> None:
        self.resource = resource
        self.demand = demand
        self.bound = bound
        self.unit = unit
        whose = resource if resource.startswith(f"{unit} ") else f"{unit} of {resource}"
        expected, found = f"at most {bound} {whose}", f"{demand} {unit}"
        if demand <= bound:  # a part alone would fit, but not with what else must be there
            expected = f"all that is needed at once within {bound} {whose}"
            found = f"no way to place it, with {demand} {unit} needed for a part alone"
        super().__init__("infeasible", subject or resource, expected, found, lever)

    def as_dict(self) -> dict[str, object]:
        return super().as_dict() | {
            "resource": self.resource,
            "demand": self.demand,
            "bound": self.bound,
            "unit": self.unit,
        }
