"""What the scripts of this folder ask of the machine. Must not start anything."""

import pathlib
import socket

DEALER = str(pathlib.Path(__file__).with_name("dealer.toml"))


def free():
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def resident(pid, name="VmRSS"):
    """Bytes of memory that a process holds; `VmHWM` for the most that it held."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))
