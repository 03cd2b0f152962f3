"""The hosts that a request may name, and whether an address is on loopback."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class AllowedHosts:
    """The hosts that a request may name in its Host header.

    A page of another site can make its own name resolve to this machine (DNS rebinding). Its
    requests then carry its name, and are rejected.

    Parameters
    ----------
    names : frozenset of str
        Host names and addresses, in lower case.
    any_address : bool
        Whether every IP address is allowed, as for a server that listens on all of them.

    Examples
    --------
    >>> hosts = AllowedHosts.of("127.0.0.1", ["scores.example"])
    >>> hosts.allow("localhost:8000"), hosts.allow("scores.example"), hosts.allow("evil.example")
    (True, True, False)
    """

    names: frozenset[str] = frozenset(LOOPBACK_NAMES)
    any_address: bool = False

    @classmethod
    def of(cls, host: str, more: Iterable[str] = ()) -> AllowedHosts:
        """Return what is allowed for a server that listens on `host`, and further names.

        If it listens on all addresses of the machine, every IP address and the machine's name are
        allowed.
        """
        address = _parse_address(host)
        listens_on_all = address is not None and address.is_unspecified
        names = [*LOOPBACK_NAMES, host, *more]
        if listens_on_all:
            names.append(socket.gethostname())
        return cls(frozenset(map(_normalize, names)), listens_on_all)

    def allow(self, header: str) -> bool:
        """Return whether a Host header names an allowed host; its port does not matter."""
        is_ipv6 = header.startswith("[")
        host = _normalize(header[1:].partition("]")[0] if is_ipv6 else header.partition(":")[0])
        return host in self.names or (self.any_address and _parse_address(host) is not None)


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from the same machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    address = _parse_address(host)
    if address is not None:
        return address.is_loopback
    addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    return all(ipaddress.ip_address(str(text)).is_loopback for text in addresses)


def _normalize(host: str) -> str:
    address = _parse_address(host)
    return host.strip().lower().removesuffix(".") if address is None else str(address)


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
