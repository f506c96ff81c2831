"""Pliant from Python: submit scenes, follow their frames as arrays, steer them while they run.

    import pliant

    client = pliant.Client()
    session = client.submit("clients/scenes/falling_box.json")
    for frame in session.frames():
        print(frame.number, frame.time, frame.positions[:, 1].min())

Only the standard library is needed. Where numpy is installed, arrays are numpy's. `pliant.aio` has
the same for asyncio.
"""

from .client import Client
from .compare import Comparison
from .errors import (
    BrokenStream,
    Fault,
    Gone,
    NotFound,
    PliantError,
    Problem,
    SceneFilesUnreadable,
    SceneRefused,
    SessionFailed,
    Unauthorised,
    Unreachable,
)
from .metrics import Metrics
from .progress import Progress, progress
from .records import Frame
from .session import Session, Topology
from .streams import Events, FramesMissing, FrameStream, Gap, MetricsStream, MixedStream
from .sweep import Sweep
from .view import View

__version__ = "0.1.0"
__all__ = [
    "BrokenStream",
    "Client",
    "Comparison",
    "Events",
    "Fault",
    "Frame",
    "FrameStream",
    "FramesMissing",
    "Gap",
    "Gone",
    "Metrics",
    "MetricsStream",
    "MixedStream",
    "NotFound",
    "PliantError",
    "Problem",
    "Progress",
    "SceneFilesUnreadable",
    "SceneRefused",
    "Session",
    "SessionFailed",
    "Sweep",
    "Topology",
    "Unauthorised",
    "Unreachable",
    "View",
    "progress",
]
