"""Networks of the zoo by name as graph modules, with layers as in their papers and weights made from a seed."""

from xdsl.dialects.builtin import ModuleOp

from ...errors import TilewrightError
from ...zoo.paper_networks import NAMES, network
from .images import image_module
from .language import BlockShape, decoder_block, encoder_decoder, stack
from .maker import PRECISIONS, Maker, Precision

BLOCKS = {
    "gpt2_small": BlockShape(768, 12, 12, 3072),
    "gpt2_xl": BlockShape(1600, 25, 25, 6400),
    "gptj_6b": BlockShape(4096, 16, 16, 16384, rotary=64, parallel=True),
    "llama2_70b": BlockShape(8192, 64, 8, 28672, norm="rms", rotary=128, gated=True),
}
"""Language models of which one block has a name: NAME_prefill and NAME_decode."""

TOKENS = {"gpt2_small": 512, "gpt2_xl": 1024, "gptj_6b": 512, "llama2_70b": 512}
"""Tokens of a prompt, and before the new one, where the caller says nothing."""

STACKS = {
    "bert_base_block": BlockShape(768, 12, 12, 3072),
    "gpt": BlockShape(768, 12, 12, 3072),
    "transformer": BlockShape(512, 8, 8, 2048),
}


def network_module(
    name: str, *, precision: Precision = "i8", batch: int = 1, tokens: int | None = None, seed: int = 0
) -> ModuleOp:
    """The network called `name`, one of `NAMES`, on `batch` samples; `tokens` is the sequence length of a transformer.

    Raises `TilewrightError`: kind `network` for an unknown name or sizes that it cannot have.
    """
    model, _, phase = name.rpartition("_")
    is_language = name in STACKS or model in BLOCKS
    if name not in NAMES:
        raise TilewrightError("network", name, f"one of {', '.join(NAMES)}", "an unknown name")
    if tokens is not None and not is_language:
        raise TilewrightError("network", name, "a transformer, for a sequence length", "an image network")
    least = 2 if phase == "decode" else 1
    if batch < 1 or (tokens is not None and tokens < least):
        raise TilewrightError("network", name, f"a batch of at least 1, at least {least} tokens", f"{batch}, {tokens}")
    maker = Maker(precision, seed)
    if model in BLOCKS:
        seen = tokens or TOKENS[model] + (phase == "decode")
        return decoder_block(BLOCKS[model], maker, batch, seen, phase == "decode")
    if name == "gpt":
        return stack(STACKS[name], maker, batch, tokens or 512, 12, causal=True)
    if name == "bert_base_block":
        return stack(STACKS[name], maker, batch, tokens or 512, 1, causal=False)
    if name == "transformer":
        return encoder_decoder(STACKS[name], maker, batch, tokens or 128, 6)
    return image_module(network(name), maker, batch)


__all__ = ["NAMES", "PRECISIONS", "network_module"]
