"""How objects are taken apart into fields and put together again, without running code of files.

A way is chosen for each class in `imboost.persistence.class_registry`, never by what a file says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import nn

from imboost.models import NormalisingFlow

Fields = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """How objects of one class are taken apart and put together.

    Parameters
    ----------
    take_apart : callable
        Returns the fields of an object.
    put_together : callable
        Returns an object, given its class and its fields.
    """

    take_apart: Callable[[Any], Fields]
    put_together: Callable[[Any, Fields], Any]


def attributes(without: tuple[str, ...] = ()) -> Way:
    """Return the way of an ordinary object: its attributes, but for those that are left out.

    What a class calls `unsaved_attributes` is left out too.
    """

    def take_apart(thing: Any) -> Fields:
        unwanted = (*without, *getattr(thing, "unsaved_attributes", ()))
        return {name: part for name, part in vars(thing).items() if name not in unwanted}

    def put_together(made: Any, parts: Fields) -> Any:
        thing = made.__new__(made)
        vars(thing).update(parts)
        return thing

    return Way(take_apart, put_together)


def record() -> Way:
    """Return the way of a dataclass: its fields, from which its constructor makes a new one."""

    def take_apart(thing: Any) -> Fields:
        return {field.name: getattr(thing, field.name) for field in fields(thing)}

    return Way(take_apart, lambda made, parts: made(**parts))


def choice() -> Way:
    """Return the way of an enumeration: the value of a member."""
    return Way(lambda member: {"value": member.value}, lambda made, parts: made(parts["value"]))


def network() -> Way:
    """Return the way of a torch module: its attributes, parameters, buffers and submodules.

    It is made for scoring: its parameters take no gradient.
    """
    inherited = vars(nn.Module()).keys()

    def take_apart(module: nn.Module) -> Fields:
        return {
            "attributes": {
                name: part for name, part in vars(module).items() if name not in inherited
            },
            "parameters": dict(module.named_parameters(recurse=False)),
            "buffers": dict(module.named_buffers(recurse=False)),
            "children": dict(module.named_children()),
        }

    def put_together(made: Any, parts: Fields) -> nn.Module:
        module: nn.Module = made.__new__(made)
        nn.Module.__init__(module)
        vars(module).update(parts["attributes"])
        for name, tensor in parts["parameters"].items():
            module.register_parameter(name, nn.Parameter(tensor, requires_grad=False))
        for name, tensor in parts["buffers"].items():
            module.register_buffer(name, tensor)
        for name, child in parts["children"].items():
            module.add_module(name, child)
        return module

    return Way(take_apart, put_together)


def flow() -> Way:
    """Return the way of a normalising flow: its size and its state, for zuko makes the rest."""

    def take_apart(model: NormalisingFlow) -> Fields:
        sizes = {"n_features": model.n_features, "n_members": model.n_members}
        return {**sizes, "state": dict(model.state_dict())}

    def put_together(made: Any, parts: Fields) -> NormalisingFlow:
        model: NormalisingFlow = made(
            parts["n_features"], torch.Generator(), n_members=parts["n_members"]
        )
        model.double().load_state_dict(parts["state"])
        return model.requires_grad_(False)

    return Way(take_apart, put_together)


def on_cpu() -> Way:
    """Return the way of a torch device: whatever it was, a loaded detector is on the CPU."""
    return Way(lambda _device: {}, lambda _made, _parts: torch.device("cpu"))


def random_source() -> Way:
    """Return the way of numpy's `RandomState`: its state."""

    def put_together(_made: Any, parts: Fields) -> np.random.RandomState:
        source = np.random.RandomState()
        source.set_state(parts["state"])
        return source

    return Way(lambda source: {"state": source.get_state(legacy=False)}, put_together)
