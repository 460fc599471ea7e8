"""The fixtures `toolmock` and `toolmock_environment`, explanations of failed tests, and the verdict on a session."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from datetime import datetime, timezone
from typing import Any, Dict, Generator, Iterator, List, Optional

import pytest

from .control import Control, Environment, ToolmockError
from .server import Server, program

MAX_EXPLAINED = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("toolmock").addoption(
        "--toolmock-verdict",
        action="store_true",
        help="fail the session when a client broke the contract, as `toolmock run` does; minima and what is allowed come from "
        "`verdict` of toolmock.config.yaml",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ToolmockSession(config), "toolmock_session")


class ToolmockSession:
    """The server of a session, or of one worker of pytest-xdist, and what is said about it at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._server: Optional[Server] = None
        # The reports of workers, and of this process.
        self._reports: List[str] = []
        self._verdict = ""

    @property
    def server(self) -> Server:
        __tracebackhide__ = True
        self._server = self._server or Server()
        return self._server

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        try:
            if self._server is not None and self._server.is_own and self._is_judged:
                self._reports.append(_report_of(self._server.control))
        finally:
            if self._server is not None:
                self._server.stop()
        output: Optional[Dict[str, Any]] = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["toolmock_reports"] = self._reports
        elif self._is_judged:
            is_kept, self._verdict = self._judge()
            if not is_kept and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of pytest-xdist has ended; one that crashed has no output."""
        self._reports.extend(getattr(node, "workeroutput", {}).get("toolmock_reports", []))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._verdict:
            terminalreporter.section("toolmock verdict")
            terminalreporter.line(self._verdict)

    @property
    def _is_judged(self) -> bool:
        return bool(self._config.getoption("--toolmock-verdict"))

    def _judge(self) -> "tuple[bool, str]":
        url = os.environ.get("TOOLMOCK_URL")
        if url:
            return _verdict_of(Control(url, os.environ.get("TOOLMOCK_ADMIN_TOKEN")))
        if not self._reports:
            return False, "no test used the fixture toolmock_environment, so nothing was judged"
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, f"{number}.json") for number in range(len(self._reports))]
            for file, report in zip(files, self._reports):
                with open(file, "w", encoding="utf-8") as opened:
                    opened.write(report)
            command = [*program(), "report", "merge", *files]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            return done.returncode == 0, done.stdout.decode(errors="replace").strip()


def _report_of(control: Control) -> str:
    pair = {name: control.call("GET", f"/{name}", format="json") for name in ("contract", "coverage")}
    return json.dumps(pair)


def _verdict_of(control: Control) -> "tuple[bool, str]":
    """The verdict of a server that somebody else has started, on all its requests."""
    report = control.call("GET", "/contract", format="json")
    return report["ok"] and report["total"]["judged"] > 0, control.text("GET", "/contract", format="text").strip()


@pytest.fixture(scope="session")
def toolmock(pytestconfig: pytest.Config) -> Server:
    """The server: that of `TOOLMOCK_URL`, else one of this session, started when the first test needs it."""
    session: ToolmockSession = pytestconfig.pluginmanager.get_plugin("toolmock_session")  # type: ignore[assignment]
    return session.server


@pytest.fixture
def toolmock_environment(toolmock: Server, request: pytest.FixtureRequest) -> Iterator[Environment]:
    """An environment for this test alone, with credentials of its own."""
    file, line, _ = request.node.location
    environment = toolmock.environment(request.node.nodeid, file, None if line is None else line + 1)
    yield environment
    toolmock.remove(environment)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, Any, None]:
    """The report of a failed test explains each request of the test that was refused."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    environment = getattr(item, "funcargs", {}).get("toolmock_environment")
    if call.when == "call" and report.failed and isinstance(environment, Environment):
        try:
            wrong = [entry for entry in environment.requests() if entry["status"] >= 400 or entry["findings"]]
            texts = [environment.explain(entry["id"]) for entry in wrong[-MAX_EXPLAINED:]]
            texts += _unknown_tokens(environment, call.start)
        except ToolmockError as error:
            texts = [str(error)]
        if texts:
            report.sections.append(("toolmock: what was wrong with requests", "\n\n".join(texts)))


def _unknown_tokens(environment: Environment, since: float) -> List[str]:
    """What a test cannot find in its own journal: a token that no environment has issued belongs to none."""
    began = datetime.fromtimestamp(since, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    count = sum(
        1
        for entry in environment.requests(environment="default", status=401)
        if entry["client"] is None
        and entry["error_code"] == "UNAUTHENTICATED"
        and entry["real_at"] >= began
        and "authorization" in entry["request"]["headers"]
    )
    if count == 0:
        return []
    requests = "1 request" if count == 1 else f"{count} requests"
    return [f"toolmock: {requests} with an unknown token reached the server during this test"]
