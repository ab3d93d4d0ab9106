"""Layer tables of the networks that DRAM schedulers are compared on.

Shapes and order of layers are those that SoMa ships (J. Cai et al., HPCA 2025): batch normalisation folded, activation
functions and biases free, ResNet strides on the first 1x1 convolution, GPT-2 as one block, RandWire from a fixed graph.
"""

from .images import gpt2_decode, gpt2_prefill
from .layers import KINDS, Kind, Layer, Network, Shape
from .tables import NAMES, schedule_network

__all__ = ["KINDS", "NAMES", "Kind", "Layer", "Network", "Shape", "gpt2_decode", "gpt2_prefill", "schedule_network"]
