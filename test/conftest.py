"""Property tests draw the same examples on every run; `pytest --hypothesis-profile=search` draws new ones."""

import gc
import os

from hypothesis import HealthCheck, settings

from tilewright.garbage import SELDOM

os.environ["TILEWRIGHT_KERNELS"] = "wait"  # for commands that tests start: the same answers in any order

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)

settings.register_profile("search", deadline=None, max_examples=500, suppress_health_check=SLOW)
settings.register_profile("same", deadline=None, max_examples=50, derandomize=True, suppress_health_check=SLOW)
settings.load_profile("same")

gc.set_threshold(*SELDOM)


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: nothing of them is garbage."""
    gc.collect()
    gc.freeze()
