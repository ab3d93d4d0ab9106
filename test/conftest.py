"""Property tests draw the same examples on every run; `pytest --hypothesis-profile=search` draws new ones."""

import os

from hypothesis import HealthCheck, settings

os.environ["TILEWRIGHT_KERNELS"] = "wait"  # for commands that tests start: the same answers in any order

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)

settings.register_profile("search", deadline=None, max_examples=500, suppress_health_check=SLOW)
settings.register_profile("same", deadline=None, max_examples=50, derandomize=True, suppress_health_check=SLOW)
settings.load_profile("same")
