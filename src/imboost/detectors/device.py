"""The choice of the torch device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imboost.errors import SettingError

if TYPE_CHECKING:
    import torch


def resolve_device(device: str) -> torch.device:
    """Return the device called `device`; "auto" is the GPU where there is one.

    Raises
    ------
    SettingError
        If torch does not know the name, or the machine has no such device.
    """
    import torch  # seconds, which detectors without a network do not need

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(str(device))
        torch.empty(1, device=resolved).item()  # a device without memory, like meta, fails too
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise SettingError(
            f"device must be 'auto', 'cpu' or a device this machine has, such as 'cuda'; "
            f"got {device!r} ({reason})."
        ) from None
    return resolved
