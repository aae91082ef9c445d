"""Which addresses and names mean this machine."""

from __future__ import annotations

import ipaddress


def is_local(host: str) -> bool:
    """Return whether a host name or address is localhost, in 127.0.0.0/8, or ::1.

    >>> is_local("127.0.0.2"), is_local("::1"), is_local("127.0.0.1.example.org")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
