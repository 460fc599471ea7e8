"""A toolmock for a test session: one that runs already, or one of its own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from typing import IO, List, Optional

from .control import Control, Environment, ToolmockError

# pytest leaves the frames of this module out of a traceback.
__tracebackhide__ = True

# The configuration file says what the mock is, and neither where it listens nor who may control it.
START = "start --host 127.0.0.1 --port 0 --no-tls --no-admin-token --in-memory --json --quiet".split()

MISSING = (
    "there is no toolmock to start: install its package in this project (npm install --save-dev), put its executable on the "
    "PATH as toolmock, or name the program by TOOLMOCK_BIN"
)


def program() -> List[str]:
    """The command of toolmock: that of `TOOLMOCK_BIN`, else `toolmock` on the PATH, else `npx toolmock`."""
    command = os.environ.get("TOOLMOCK_BIN")
    if command:
        return shlex.split(command, posix=os.name != "nt")
    executable = shutil.which("toolmock")
    return [executable] if executable else [shutil.which("npx") or "npx", "--no-install", "toolmock"]


class Server:
    """The server that the tests use. `is_own` says whether this session has started it."""

    def __init__(self) -> None:
        url = os.environ.get("TOOLMOCK_URL")
        self.is_own = not url
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._log: IO[bytes] = tempfile.TemporaryFile()
        self.url = url or self._start()
        self.control = Control(self.url, os.environ.get("TOOLMOCK_ADMIN_TOKEN"))

    def environment(self, label: str, file: Optional[str] = None, line: Optional[int] = None) -> Environment:
        """Makes an environment for a test; `label` names the test in reports, `file` and `line` say where it is."""
        place = {"file": file, "line": None if file is None else line}
        test = {"label": label[:500], **{name: value for name, value in place.items() if value is not None}}
        made = self.control.call("POST", "/environments", test)
        return Environment(self.control, made["name"], made["client_id"], made["client_secret"])

    def remove(self, environment: Environment) -> None:
        self.control.call("DELETE", f"/environments/{environment.name}")

    def stop(self) -> None:
        """Ends the server, if this session has started it. A signal to `npx` would leave the server running."""
        if self._process is None:
            return
        try:
            self.control.call("POST", "/shutdown")
            self._process.wait(timeout=30)
        except (ToolmockError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process = None

    def _start(self) -> str:
        command = [*program(), *START]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log
            )
        except OSError as error:
            reason = f"{command[0]} cannot be run ({error.strerror})"
            message = f"{reason}, which TOOLMOCK_BIN names" if os.environ.get("TOOLMOCK_BIN") else f"{MISSING}. {reason}"
            raise ToolmockError(message) from None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._log.seek(0)
            said = self._log.read().decode(errors="replace").strip()
            self._process = None
            # What npx says where it finds no package is about npm.
            is_missing = "--no-install" in command and "toolmock: " not in said
            raise ToolmockError(MISSING if is_missing else f"{shlex.join(command)} has ended: {said}")
        url = json.loads(line)["url"]
        assert isinstance(url, str)
        return url
