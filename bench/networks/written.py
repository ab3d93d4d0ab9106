# pyright: basic, reportMissingImports=false
"""Architectures written out in torch as their papers have them, small: U-Nets, recurrent, mixers, detectors, codecs."""

from __future__ import annotations

import math
from typing import Any

import torch
from network import Network, image, numbers, tokens
from torch import Tensor, nn
from torch.nn import functional as F


class _UNet(nn.Module):
    """U-Net: two levels down, up by transposed convolutions, maps joined."""

    def __init__(self, width: int = 8, bilinear: bool = False) -> None:
        super().__init__()
        self.first = self._double(3, width)
        self.second = self._double(width, 2 * width)
        self.bottom = self._double(2 * width, 4 * width)
        if bilinear:

            def up(i):
                return nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(i, i // 2, 1))
        else:

            def up(i):
                return nn.ConvTranspose2d(i, i // 2, 2, 2)

        self.up2, self.up1 = up(4 * width), up(2 * width)
        self.back2, self.back1 = self._double(4 * width, 2 * width), self._double(2 * width, width)
        self.last = nn.Conv2d(width, 4, 1)

    @staticmethod
    def _double(inner: int, outer: int) -> nn.Module:
        return nn.Sequential(
            *(nn.Conv2d(inner, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU()),
            *(nn.Conv2d(outer, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU()),
        )

    def forward(self, x: Tensor) -> Tensor:
        """A map of classes."""
        first = self.first(x)
        second = self.second(F.max_pool2d(first, 2))
        x = self.bottom(F.max_pool2d(second, 2))
        x = self.back2(torch.cat([self.up2(x), second], 1))
        return torch.sigmoid(self.last(self.back1(torch.cat([self.up1(x), first], 1))))


class _Residual(nn.Module):
    """A residual block of a diffusion model, told the time step."""

    def __init__(self, inner: int, outer: int, time: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(4, inner), nn.Conv2d(inner, outer, 3, padding=1)
        self.time = nn.Linear(time, outer)
        self.norm2, self.conv2 = nn.GroupNorm(4, outer), nn.Conv2d(outer, outer, 3, padding=1)
        self.skip = nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """The block."""
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class _Spatial(nn.Module):
    """Attention between the places of a map."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.GroupNorm(4, width),
            nn.Conv2d(width, 3 * width, 1),
            nn.Conv2d(width, width, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """The map, each place with what it attends to."""
        n, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(n, 3, 2, c // 2, h * w).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v).transpose(-1, -2).reshape(n, c, h, w)
        return x + self.out(y)


class _Diffusion(nn.Module):
    """The U-Net of a diffusion model: time by sines, group normalisation, attention in the middle."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        time = 4 * width
        self.width = width
        self.embed = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.down1, self.sample1 = _Residual(width, width, time), nn.Conv2d(width, width, 3, 2, 1)
        self.down2 = _Residual(width, 2 * width, time)
        self.middle1, self.attend = _Residual(2 * width, 2 * width, time), _Spatial(2 * width)
        self.up2, self.up1 = _Residual(4 * width, 2 * width, time), _Residual(3 * width, width, time)
        self.norm, self.last = nn.GroupNorm(4, width), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        """The noise in x."""
        rates = torch.exp(torch.arange(self.width // 2) * (-math.log(10000.0) / (self.width // 2)))
        angles = step[:, None] * rates[None]
        time = self.embed(torch.cat([angles.sin(), angles.cos()], -1))
        x = self.stem(x)
        first = self.down1(x, time)
        second = self.down2(self.sample1(first), time)
        y = self.attend(self.middle1(second, time))
        y = self.up2(torch.cat([y, second], 1), time)
        y = F.interpolate(y, scale_factor=2.0, mode="nearest")
        return self.last(F.silu(self.norm(self.up1(torch.cat([y, first], 1), time))))


class _DiffusionTransformer(nn.Module):
    """DiT: patches, blocks whose normalisation is scaled by the time step."""

    def __init__(self, width: int = 48, depth: int = 2) -> None:
        super().__init__()
        self.patches, self.place = nn.Conv2d(4, width, 2, 2), nn.Parameter(torch.randn(1, 64, width) * 0.02)
        self.time = nn.Sequential(nn.Linear(16, width), nn.SiLU(), nn.Linear(width, width))
        self.attention = nn.ModuleList([nn.MultiheadAttention(width, 4, batch_first=True) for _ in range(depth)])
        self.feed = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))
                for _ in range(depth)
            ]
        )
        self.change = nn.ModuleList([nn.Linear(width, 6 * width) for _ in range(depth)])
        self.last = nn.Linear(width, 16)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        """The noise in x."""
        x = self.patches(x).flatten(2).transpose(1, 2) + self.place
        angles = step[:, None] * torch.exp(-torch.arange(8) / 8.0 * math.log(10000.0))
        time = self.time(torch.cat([angles.cos(), angles.sin()], -1))
        for attention, feed, change in zip(self.attention, self.feed, self.change, strict=True):
            a, b, c, d, e, f = change(F.silu(time))[:, None].chunk(6, -1)
            y = F.layer_norm(x, x.shape[-1:]) * (1 + a) + b
            x = x + c * attention(y, y, y, need_weights=False)[0]
            x = x + f * feed(F.layer_norm(x, x.shape[-1:]) * (1 + d) + e)
        x = self.last(x).reshape(-1, 8, 8, 2, 2, 4)
        return x.permute(0, 5, 1, 3, 2, 4).reshape(-1, 4, 16, 16)


class _Decoder(nn.Module):
    """The decoder of an image codec: residual blocks, nearest-neighbour steps up."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.stem = nn.Conv2d(4, width, 3, padding=1)
        self.attend = _Spatial(width)
        self.norms = nn.ModuleList([nn.GroupNorm(4, width) for _ in range(3)])
        self.convs = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in range(3)])
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """An image four times as large."""
        x = self.attend(self.stem(x))
        for i, (norm, conv) in enumerate(zip(self.norms, self.convs, strict=True)):
            x = x + conv(F.silu(norm(x)))
            x = F.interpolate(x, scale_factor=2.0) if i < 2 else x
        return torch.tanh(self.last(x))


class _Mixer(nn.Module):
    """MLP-Mixer."""

    def __init__(self, width: int = 32, places: int = 16, depth: int = 2) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)

        def mlp(n):
            return nn.Sequential(nn.Linear(n, 2 * n), nn.GELU(), nn.Linear(2 * n, n))

        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2 * depth)])
        self.places, self.channels = (
            nn.ModuleList([mlp(places) for _ in range(depth)]),
            nn.ModuleList([mlp(width) for _ in range(depth)]),
        )
        self.last = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Scores."""
        x = self.patches(x).flatten(2).transpose(1, 2)
        for i, (places, channels) in enumerate(zip(self.places, self.channels, strict=True)):
            x = x + places(self.norms[2 * i](x).transpose(1, 2)).transpose(1, 2)
            x = x + channels(self.norms[2 * i + 1](x))
        return self.last(x.mean(1))


class _Recurrent(nn.Module):
    """Words, a recurrent network over them in both directions, a class."""

    def __init__(self, kind: type[nn.Module], width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, width)
        self.steps = kind(width, width, num_layers=2, bidirectional=True, batch_first=True)
        self.last = nn.Linear(2 * width, 5)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores for each word."""
        return self.last(self.steps(self.embed(ids))[0])


class _Waves(nn.Module):
    """WaveNet: dilated causal convolutions with gates."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.stem = nn.Conv1d(1, width, 1)
        self.gates = nn.ModuleList([nn.Conv1d(width, 2 * width, 2, dilation=2**i) for i in range(4)])
        self.skips = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(4)])
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(width, 32, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the next sample's value."""
        x = self.stem(x)
        total = torch.zeros_like(x)
        for i, (gate, skip) in enumerate(zip(self.gates, self.skips, strict=True)):
            a, b = gate(F.pad(x, (2**i, 0))).chunk(2, 1)
            y = skip(torch.tanh(a) * torch.sigmoid(b))
            x, total = x + y, total + y
        return self.last(total)


class _Resolution(nn.Module):
    """ESPCN: an image three times as large, by channels that become places."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Conv2d(1, 16, 5, padding=2), nn.Tanh(), nn.Conv2d(16, 16, 3, padding=1), nn.PReLU(16)),
            *(nn.Conv2d(16, 9, 3, padding=1), nn.PixelShuffle(3)),
        )

    def forward(self, x: Tensor) -> Tensor:
        """The image."""
        return self.layers(x)


class _Detector(nn.Module):
    """A YOLO: cross-stage blocks, pooled pyramid, maps joined upwards, boxes decoded."""

    def __init__(self, width: int = 8, classes: int = 4) -> None:
        super().__init__()

        def conv(i, o, k=3, s=1):
            return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o), nn.SiLU())

        self.stem, self.down = conv(3, width, 3, 2), conv(width, 2 * width, 3, 2)
        self.cross = nn.ModuleList([conv(width, width), conv(width, width), conv(3 * width, 2 * width, 1)])
        self.deep = conv(2 * width, 4 * width, 3, 2)
        self.pyramid = nn.ModuleList([conv(4 * width, 2 * width, 1), conv(8 * width, 4 * width, 1)])
        self.lateral = conv(6 * width, 2 * width)
        self.heads = nn.ModuleList([nn.Conv2d(c, 16 + classes, 1) for c in (2 * width, 4 * width)])
        self.classes = classes

    def forward(self, x: Tensor) -> Tensor:
        """Boxes and scores of each place."""
        x = self.down(self.stem(x))
        a, b = x.chunk(2, 1)
        c = b + self.cross[1](self.cross[0](b))
        fine = self.cross[2](torch.cat([a, b, c], 1))
        x = self.pyramid[0](self.deep(fine))
        pools = [x]
        for _ in range(3):
            pools.append(F.max_pool2d(pools[-1], 5, 1, 2))
        coarse = self.pyramid[1](torch.cat(pools, 1))
        fine = self.lateral(torch.cat([F.interpolate(coarse, scale_factor=2.0), fine], 1))
        return torch.cat([self._decoded(head(m)) for head, m in zip(self.heads, (fine, coarse), strict=True)], -1)

    def _decoded(self, x: Tensor) -> Tensor:
        n, _, h, w = x.shape
        sides, scores = x.flatten(2).split([16, self.classes], 1)
        sides = (sides.reshape(n, 4, 4, h * w).softmax(2) * torch.arange(4.0).reshape(1, 1, 4, 1)).sum(2)
        rows, columns = torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="ij")
        places = torch.stack([columns.flatten(), rows.flatten()])[None]
        low, high = places - sides[:, :2], places + sides[:, 2:]
        return torch.cat([(low + high) / 2, high - low, scores.sigmoid()], 1)


class _Separator(nn.Module):
    """Conv-TasNet: a learned basis, separable dilated convolutions, masks, back to samples."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.encode, self.decode = nn.Conv1d(1, width, 8, 4), nn.ConvTranspose1d(width, 1, 8, 4)
        self.norm = nn.GroupNorm(1, width)
        self.blocks = nn.ModuleList(
            [
                nn.Sequential(
                    *(nn.Conv1d(width, width, 1), nn.PReLU(), nn.GroupNorm(1, width)),
                    *(nn.Conv1d(width, width, 3, padding=2**i, dilation=2**i, groups=width), nn.PReLU()),
                    *(nn.GroupNorm(1, width), nn.Conv1d(width, width, 1)),
                )
                for i in range(3)
            ]
        )
        self.masks = nn.Conv1d(width, 2 * width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Two sources."""
        basis = self.encode(x)
        y = self.norm(basis)
        for block in self.blocks:
            y = y + block(y)
        first, second = torch.sigmoid(self.masks(y)).chunk(2, 1)
        return torch.cat([self.decode(basis * first), self.decode(basis * second)], 1)


class _Ranker(nn.Module):
    """DLRM: embeddings of categories, products of pairs, a score."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, width) for n in (50, 100, 200)])
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width + 6, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())

    def forward(self, dense: Tensor, categories: Tensor) -> Tensor:
        """The probability of a click."""
        x = self.bottom(dense)
        rows = torch.stack([x, *(table(categories[:, i]) for i, table in enumerate(self.tables))], 1)
        pairs = torch.bmm(rows, rows.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, -1)
        return self.top(torch.cat([x, pairs[:, i, j]], 1))


class _TokenTransformer(nn.Module):
    """The encoder and decoder of `nn.Transformer`, with a causal mask."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(100, width), nn.Parameter(torch.randn(1, 16, width))
        self.core = nn.Transformer(width, 4, 1, 1, 64, batch_first=True)
        self.last = nn.Linear(width, 100)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Scores of the next words."""
        mask = nn.Transformer.generate_square_subsequent_mask(12)
        y = self.core(self.embed(source) + self.place, self.embed(target) + self.place[:, :12], tgt_mask=mask)
        return self.last(y)


def _noise(channels: int, size: int) -> Any:
    return lambda: {"x": torch.randn(2, channels, size, size), "step": torch.rand(2) * 100}


def _pairs() -> dict[str, Tensor]:
    return {"source": torch.randint(0, 100, (2, 16)), "target": torch.randint(0, 100, (2, 12))}


def _clicks() -> dict[str, Tensor]:
    return {"dense": torch.rand(2, 13), "categories": torch.randint(0, 50, (2, 3))}


NETWORKS: dict[str, Network] = {
    "unet": Network(_UNet, image()),
    "unet_bilinear": Network(lambda: _UNet(bilinear=True), image(), True),
    "diffusion_unet": Network(_Diffusion, _noise(3, 16)),
    "diffusion_transformer": Network(_DiffusionTransformer, _noise(4, 16), True),
    "image_decoder": Network(_Decoder, numbers(4, 8, 8)),
    "mlp_mixer": Network(_Mixer, image()),
    "lstm": Network(lambda: _Recurrent(nn.LSTM), tokens(8)),
    "gru": Network(lambda: _Recurrent(nn.GRU), tokens(8)),
    "wavenet": Network(_Waves, numbers(1, 64)),
    "super_resolution": Network(_Resolution, image(16, 1), True),
    "yolo": Network(_Detector, image(64)),
    "tasnet": Network(_Separator, numbers(1, 128)),
    "dlrm": Network(_Ranker, _clicks, True),
    "transformer": Network(_TokenTransformer, _pairs),
}
