"""What is saved of an object: its state, a dictionary.

Every class whose objects are part of a saved detector is one of the following, and has a line in
`imboost.persistence.class_registry`.

- A dataclass: its fields are its state, and the constructor takes them back. Fit it in a class
  method (``NeighborScores.fit(reference, n_neighbors)``). A `functools.cached_property` is not a
  field, so it is not saved and is computed again after loading.
- A class with ``state() -> dict`` and the class method ``from_state(dict)``. Estimators inherit
  both from `Stateful`.

A state holds None, booleans, numbers, strings, lists, tuples, dictionaries, numpy arrays, torch
tensors, and other objects that have a state.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self


class Stateful:
    """Mixin of estimators: the state is the settings and the fitted attributes."""

    unsaved_attributes: ClassVar[tuple[str, ...]] = ()
    """Attributes that only further training needs; a loaded object does not have them."""

    def state(self) -> dict[str, Any]:
        """Return what is saved: all attributes except `unsaved_attributes`."""
        unsaved = self.unsaved_attributes
        return {name: value for name, value in vars(self).items() if name not in unsaved}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return an object with the given state; the constructor is not called."""
        restored = cls.__new__(cls)
        vars(restored).update(state)
        return restored
