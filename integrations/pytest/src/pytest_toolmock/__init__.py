"""Fixtures for toolmock: see README.md."""

from .control import Environment, Link, ToolmockError
from .server import Server

__all__ = ["Environment", "Link", "Server", "ToolmockError"]
