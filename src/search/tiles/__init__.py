"""Tiles of sums of products on an array with buffers of rows: sizes with remainders and the order of loops, by cost."""

from .choice import Buffers as Buffers
from .choice import Choice as Choice
from .choice import Loop as Loop
from .choice import SumProblem as SumProblem
from .choice import Tiling as Tiling
from .choice import choose as choose
