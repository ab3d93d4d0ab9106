"""Tiles of sums of products on an array with buffers of rows: sizes with remainders and the order of loops, by cost."""

from .choice import Choice as Choice
from .choice import choose as choose
from .values import Buffers as Buffers
from .values import Loop as Loop
from .values import SumProblem as SumProblem
from .values import Tiling as Tiling
