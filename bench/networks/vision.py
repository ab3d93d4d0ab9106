# pyright: basic, reportMissingImports=false
"""Architectures of torchvision, small: classification, segmentation, parts of detection."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any

import torch
from network import Network, Part, image
from torch import Tensor, nn
from torchvision import models, ops
from torchvision.models import convnext, efficientnet, maxvit, resnet, swin_transformer
from torchvision.models.detection import retinanet, ssdlite

CLASSES = 10


def _efficientnet() -> nn.Module:
    config = partial(efficientnet.MBConvConfig, width_mult=0.5, depth_mult=0.5)
    settings = [
        config(1, 3, 1, 32, 16, 1),
        config(6, 3, 2, 16, 24, 2),
        config(6, 5, 2, 24, 40, 2),
        config(6, 3, 2, 40, 80, 3),
        config(6, 5, 1, 80, 112, 3),
    ]
    return efficientnet.EfficientNet(settings, dropout=0.2, num_classes=CLASSES)


def _efficientnet_v2() -> nn.Module:
    settings = [
        efficientnet.FusedMBConvConfig(1, 3, 1, 16, 16, 1),
        efficientnet.FusedMBConvConfig(4, 3, 2, 16, 24, 2),
        efficientnet.MBConvConfig(4, 3, 2, 24, 48, 2),
        efficientnet.MBConvConfig(6, 3, 1, 48, 64, 1),
    ]
    return efficientnet.EfficientNet(settings, dropout=0.2, num_classes=CLASSES, last_channel=128)


def _vgg() -> nn.Module:
    features = models.vgg.make_layers([16, 16, "M", 32, 32, "M", 64, "M"], batch_norm=True)
    model = models.VGG(features, num_classes=CLASSES)
    model.avgpool = nn.AdaptiveAvgPool2d(2)
    model.classifier[0], model.classifier[3], model.classifier[6] = (
        nn.Linear(256, 64),
        nn.Linear(64, 64),
        nn.Linear(64, CLASSES),
    )
    return model


class _Features(nn.Module):
    """Maps of a residual network by the names that segmentation heads look for."""

    def __init__(self, layers: int = 4) -> None:
        super().__init__()
        net = resnet.ResNet(
            resnet.Bottleneck, [1, 1, 1, 1], width_per_group=16, replace_stride_with_dilation=[False, True, True]
        )
        self.stem = nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool)
        self.layers = nn.ModuleList([net.layer1, net.layer2, net.layer3, net.layer4][:layers])

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """The last map."""
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return {"out": x}


def _fcn() -> nn.Module:
    return Part(models.segmentation.FCN(_Features(2), models.segmentation.fcn.FCNHead(512, CLASSES)), "out")


def _deeplab() -> nn.Module:
    head = models.segmentation.deeplabv3.DeepLabHead(512, CLASSES, (3, 6, 9))
    return Part(models.segmentation.DeepLabV3(_Features(2), head), "out")


def _lraspp() -> nn.Module:
    return Part(models.segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=CLASSES), "out")


class _Retina(nn.Module):
    """RetinaNet's maps at three sizes and both of its heads."""

    def __init__(self) -> None:
        super().__init__()
        net = resnet.resnet18()
        self.stem = nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool, net.layer1)
        self.stages = nn.ModuleList([net.layer2, net.layer3])
        self.fpn = ops.FeaturePyramidNetwork([128, 256], 32)
        self.classes = retinanet.RetinaNetClassificationHead(32, 3, CLASSES)
        self.boxes = retinanet.RetinaNetRegressionHead(32, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Scores and boxes of all anchors."""
        x = self.stem(x)
        maps: OrderedDict[str, Tensor] = OrderedDict()
        for i, stage in enumerate(self.stages):
            x = stage(x)
            maps[str(i)] = x
        features = list(self.fpn(maps).values())
        return self.classes(features), self.boxes(features)


class _SsdLite(nn.Module):
    """SSDlite: two maps of MobileNetV3 and heads of separable convolutions."""

    def __init__(self) -> None:
        super().__init__()
        features = models.mobilenet_v3_small(width_mult=0.5).features
        self.first, self.second = features[:9], features[9:]
        norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
        self.head = ssdlite.SSDLiteHead([24, 288], [3, 3], CLASSES, norm)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Boxes and probabilities of all anchors."""
        first = self.first(x)
        found = self.head([first, self.second(first)])
        return found["bbox_regression"], torch.softmax(found["cls_logits"], -1)


class _RoiFree(nn.Module):
    """The region proposal head of Faster R-CNN on a pyramid, without the choice of regions."""

    def __init__(self) -> None:
        super().__init__()
        self.features = _Features(2)
        self.head = models.detection.rpn.RPNHead(512, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Objectness and deltas of each anchor."""
        objects, deltas = self.head([self.features(x)["out"]])
        return objects[0], deltas[0]


def _swin(block: type[nn.Module], merging: type[nn.Module]) -> nn.Module:
    return swin_transformer.SwinTransformer(
        [4, 4], 24, [2, 2], [2, 4], [4, 4], num_classes=CLASSES, block=block, downsample_layer=merging
    )


def _convnext() -> nn.Module:
    settings = [
        convnext.CNBlockConfig(16, 32, 1),
        convnext.CNBlockConfig(32, 64, 2),
        convnext.CNBlockConfig(64, None, 1),
    ]
    return convnext.ConvNeXt(settings, num_classes=CLASSES)


def _maxvit() -> nn.Module:
    return maxvit.MaxVit((64, 64), 16, 2, [16, 32], [1, 1], 8, 0.0, num_classes=CLASSES)


def _plain(make: Any, **options: Any) -> Any:
    return lambda: make(num_classes=CLASSES, **options)


NETWORKS: dict[str, Network] = {
    "resnet18": Network(_plain(models.resnet18), image(64)),
    "resnet_bottleneck": Network(
        lambda: resnet.ResNet(resnet.Bottleneck, [1, 2, 2, 1], num_classes=CLASSES), image(64)
    ),
    "resnext": Network(
        lambda: resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1], CLASSES, groups=8, width_per_group=4), image(), True
    ),
    "vgg_bn": Network(_vgg, image()),
    "mobilenet_v2": Network(_plain(models.mobilenet_v2, width_mult=0.5), image(64)),
    "mobilenet_v3_small": Network(_plain(models.mobilenet_v3_small, width_mult=0.5), image(64)),
    "mobilenet_v3_large": Network(_plain(models.mobilenet_v3_large, width_mult=0.5), image(64), True),
    "efficientnet_b0": Network(_efficientnet, image(64)),
    "efficientnet_v2": Network(_efficientnet_v2, image(64), True),
    "regnet_x": Network(_plain(models.regnet_x_400mf), image()),
    "regnet_y": Network(_plain(models.regnet_y_400mf), image(), True),
    "convnext": Network(_convnext, image(64)),
    "swin": Network(lambda: _swin(swin_transformer.SwinTransformerBlock, swin_transformer.PatchMerging), image(), True),
    "swin_v2": Network(
        lambda: _swin(swin_transformer.SwinTransformerBlockV2, swin_transformer.PatchMergingV2), image(), True
    ),
    "vit": Network(lambda: models.VisionTransformer(32, 8, 2, 4, 64, 128, num_classes=CLASSES), image(), True),
    "densenet": Network(lambda: models.DenseNet(8, (2, 2, 2, 2), 16, num_classes=CLASSES), image()),
    "shufflenet_v2": Network(_plain(models.shufflenet_v2_x0_5), image()),
    "googlenet": Network(_plain(models.googlenet, aux_logits=False, init_weights=False), image(64)),
    "squeezenet": Network(_plain(models.squeezenet1_1), image(64)),
    "mnasnet": Network(_plain(models.mnasnet0_5), image(64)),
    "maxvit": Network(_maxvit, image(64), True),
    "fcn": Network(_fcn, image(64)),
    "deeplab_v3": Network(_deeplab, image(64)),
    "lraspp": Network(_lraspp, image(64), True),
    "retinanet": Network(_Retina, image(64), False, ("scores", "boxes")),
    "ssdlite": Network(_SsdLite, image(64), True, ("boxes", "scores")),
    "rpn": Network(_RoiFree, image(64), False, ("objects", "deltas")),
}
