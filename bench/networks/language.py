# pyright: basic, reportMissingImports=false
"""Architectures of transformers, small: language, speech, vision; random weights of its own initialisers."""

from __future__ import annotations

from typing import Any

import torch
import transformers as hf
from network import Network, Part, image, tokens
from torch import Tensor, nn

WIDTH, DEPTH, HEADS, WORDS = 32, 2, 4, 100

COMMON = {
    "hidden_size": WIDTH,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": HEADS,
    "intermediate_size": 2 * WIDTH,
    "vocab_size": WORDS,
    "max_position_embeddings": 64,
}


def _encoder(name: str, mask: bool = True, **options: Any) -> Network:
    """The hidden states of an encoder."""
    names = ("input_ids", "attention_mask") if mask else ("input_ids",)

    def build() -> nn.Module:
        config = getattr(hf, f"{name}Config")(**{**COMMON, "attn_implementation": "eager", **options})
        return Part(getattr(hf, f"{name}Model")(config), "last_hidden_state", names)

    return Network(build, tokens(mask=mask), True)


def _decoder(name: str, model: str = "", **options: Any) -> Network:
    """The scores of the next words, of a prompt."""

    def build() -> nn.Module:
        config = getattr(hf, f"{name}Config")(**{**COMMON, "attn_implementation": "eager", **options})
        made = getattr(hf, model or f"{name}ForCausalLM")(config)
        return Part(made, "logits", ("input_ids",), use_cache=False)

    return Network(build, tokens(), True)


def _vision(
    name: str, size: int = 32, part: str = "logits", kind: str = "ForImageClassification", **options: Any
) -> Network:
    """What a vision model of transformers makes of an image."""

    def build() -> nn.Module:
        config = getattr(hf, f"{name}Config")(**options)
        return Part(getattr(hf, f"{name}{kind}")(config), part, ("pixel_values",))

    return Network(build, image(size), True)


PATCHES = {
    "hidden_size": WIDTH,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": HEADS,
    "intermediate_size": 2 * WIDTH,
    "image_size": 32,
    "patch_size": 8,
    "attn_implementation": "eager",
}


class _CrossDecoder(nn.Module):
    """Whisper's decoder over what its encoder made."""

    def __init__(self) -> None:
        super().__init__()
        self.model = hf.WhisperModel(_whisper())

    def forward(self, features: Tensor, input_ids: Tensor) -> Tensor:
        """Hidden states of the words so far."""
        return self.model(input_features=features, decoder_input_ids=input_ids, use_cache=False).last_hidden_state


def _whisper() -> hf.WhisperConfig:
    return hf.WhisperConfig(
        vocab_size=WORDS, d_model=WIDTH, encoder_layers=DEPTH, decoder_layers=DEPTH, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=16, max_source_positions=32,
        max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
        attn_implementation="eager",
    )  # fmt: skip


def _wav2vec2(kind: str = "Wav2Vec2") -> nn.Module:
    config = getattr(hf, f"{kind}Config")(
        hidden_size=WIDTH, num_hidden_layers=DEPTH, num_attention_heads=HEADS, intermediate_size=64,
        conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 2), num_feat_extract_layers=3,
        num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, vocab_size=WORDS, attn_implementation="eager",
    )  # fmt: skip
    return Part(getattr(hf, f"{kind}ForCTC")(config), "logits", ("input_values",))


def _sam() -> nn.Module:
    config = hf.SamVisionConfig(
        hidden_size=WIDTH, output_channels=16, num_hidden_layers=DEPTH, num_attention_heads=HEADS, image_size=64,
        patch_size=8, window_size=4, global_attn_indexes=[1], mlp_dim=64, attn_implementation="eager",
    )  # fmt: skip
    return Part(hf.SamVisionModel(config), "last_hidden_state", ("pixel_values",))


def _clip() -> nn.Module:
    text = {**COMMON, "projection_dim": 16, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}
    vision = {**{k: v for k, v in PATCHES.items() if k != "attn_implementation"}, "projection_dim": 16}
    config = hf.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16, attn_implementation="eager")
    return Part(hf.CLIPModel(config), "logits_per_image", ("input_ids", "pixel_values"))


def _clip_inputs() -> dict[str, Tensor]:
    return {"input_ids": torch.randint(3, WORDS, (2, 16)), "pixel_values": torch.randn(2, 3, 32, 32)}


def _t5() -> nn.Module:
    config = hf.T5Config(vocab_size=WORDS, d_model=WIDTH, d_kv=8, d_ff=64, num_layers=DEPTH, num_heads=HEADS)
    return Part(hf.T5EncoderModel(config), "last_hidden_state", ("input_ids", "attention_mask"))


def _detr() -> nn.Module:
    backbone = hf.ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32, 32, 64], depths=[1, 1, 1, 1], layer_type="basic",
        out_features=["stage4"],
    )  # fmt: skip
    config = hf.DetrConfig(
        use_timm_backbone=False, backbone_config=backbone, backbone=None, use_pretrained_backbone=False,
        d_model=WIDTH, encoder_layers=1,
        decoder_layers=1, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=64,
        decoder_ffn_dim=64, num_queries=10, num_labels=5, attn_implementation="eager",
    )  # fmt: skip
    return Part(hf.DetrForObjectDetection(config), "logits", ("pixel_values",))


GROUPED: dict[str, Any] = {"num_key_value_heads": 2, "head_dim": 8}

NETWORKS: dict[str, Network] = {
    "bert": _encoder("Bert"),
    "distilbert": _encoder("DistilBert", dim=WIDTH, n_layers=DEPTH, n_heads=HEADS, hidden_dim=64),
    "albert": _encoder("Albert", embedding_size=16),
    "roberta": _encoder("Roberta", pad_token_id=1),
    "electra": _encoder("Electra", embedding_size=16),
    "deberta": _encoder("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"], max_relative_positions=16),
    "t5_encoder": Network(_t5, tokens(mask=True), True),
    "gpt2": _decoder("GPT2", model="GPT2LMHeadModel", n_embd=WIDTH, n_layer=DEPTH, n_head=HEADS, n_positions=64),
    "llama": _decoder("Llama", **GROUPED),
    "qwen2": _decoder("Qwen2", **GROUPED),
    "qwen3": _decoder("Qwen3", **GROUPED),
    "mistral": _decoder("Mistral", **GROUPED, sliding_window=8),
    "gemma": _decoder("Gemma", **GROUPED),
    "gemma2": _decoder("Gemma2", **GROUPED, sliding_window=8),
    "phi": _decoder("Phi", partial_rotary_factor=0.5),
    "phi3": _decoder("Phi3", num_key_value_heads=2, pad_token_id=0),
    "opt": _decoder("OPT", word_embed_proj_dim=WIDTH, ffn_dim=64),
    "gpt_neox": _decoder("GPTNeoX", rotary_pct=0.25),
    "bloom": _decoder("Bloom", n_layer=DEPTH, n_head=HEADS),
    "falcon": _decoder("Falcon", bos_token_id=1, eos_token_id=2),
    "mamba": _decoder("Mamba", state_size=4, time_step_rank=4),
    "rwkv": _decoder("Rwkv", attention_hidden_size=WIDTH, context_length=64),
    "deit": _vision("DeiT", **PATCHES),
    "beit": _vision("Beit", **PATCHES, use_relative_position_bias=True),
    "dinov2": _vision("Dinov2", **{k: v for k, v in PATCHES.items() if k != "intermediate_size"}, mlp_ratio=2),
    "segformer": _vision(
        "Segformer", 64, kind="ForSemanticSegmentation", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
        decoder_hidden_size=16, num_labels=5,
    ),
    "mobilevit": _vision(
        "MobileViT", 64, image_size=64, hidden_sizes=[24, 32, 40], neck_hidden_sizes=[8, 12, 16, 24, 32, 40, 64],
    ),
    "poolformer": _vision("PoolFormer", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "convnext_v2": _vision("ConvNextV2", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "yolos": _vision("Yolos", kind="ForObjectDetection", **{**PATCHES, "image_size": [32, 32]}, num_detection_tokens=5),
    "detr": Network(_detr, image(64), True),
    "sam_encoder": Network(_sam, image(64), True),
    "clip": Network(_clip, _clip_inputs, True),
    "whisper_encoder": Network(
        lambda: Part(hf.WhisperModel(_whisper()).encoder, "last_hidden_state"),
        lambda: {"features": torch.randn(2, 16, 64)},
        True,
    ),
    "whisper": Network(
        _CrossDecoder, lambda: {"features": torch.randn(2, 16, 64), "input_ids": torch.randint(3, WORDS, (2, 8))}, True
    ),
    "wav2vec2": Network(_wav2vec2, lambda: {"input_values": torch.randn(2, 400)}, True),
    "hubert": Network(lambda: _wav2vec2("Hubert"), lambda: {"input_values": torch.randn(2, 400)}, True),
}  # fmt: skip
