"""Layers and tensor kernels that mappers are compared on, by name: `resnet18:conv2_1`, `mttkrp:netflix`.

Shapes of `resnet18`, `resnet50`, `resnext50`, `alexnet` and `deepbench` are those that CoSA ships (Q. Huang et al.,
ISCA 2021), `inception_v3` those of Sunstone (M. Olyaiy et al., ISPASS 2023); P and Q are output sizes.  Strides are the
networks' own (Sunstone's table has none), ResNeXt's 3x3 convolutions are grouped, and DeepBench's padding is no
dilation.  `covenant` are the layers of `zoo.covenant_layers`, products as 1x1 convolutions of `N` rows, heads as
groups.  `<network>_wu` is the weight update of each layer.  Kernels of tensor algebra have the sizes of their FROSTT
and SuiteSparse tensors, dense; `_padded` ones are rounded up to products of small primes.
"""

from .tables import NETWORKS, convolution, einsum, layer, layer_names, layers

__all__ = ["NETWORKS", "convolution", "einsum", "layer", "layer_names", "layers"]
