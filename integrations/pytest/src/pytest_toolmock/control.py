"""The control API of a toolmock, by the standard library alone."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, List, Mapping, Optional, Union

# pytest leaves the frames of this module out of a traceback, which then ends at the call of the test.
__tracebackhide__ = True

Json = Any
Link = Dict[str, Json]

# A proxy of the machine is not for a server on this machine.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ToolmockError(Exception):
    """The server refused a call; `code` is that of its error, `status` the HTTP status."""

    def __init__(self, message: str, code: str = "", status: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class Control:
    """Calls of the control API, about one environment where it is named."""

    def __init__(self, url: str, admin_token: Optional[str] = None, environment: Optional[str] = None) -> None:
        self.url = url.rstrip("/")
        self._admin_token = admin_token
        self._environment = environment

    def within(self, environment: str) -> "Control":
        return Control(self.url, self._admin_token, environment)

    def text(self, method: str, path: str, body: Json = None, **query: Json) -> str:
        """Raises ToolmockError with the message of the server, or with why there was no answer."""
        named = {"environment": self._environment, **query}
        pairs = [(name, str(value)) for name, value in named.items() if value is not None]
        url = f"{self.url}/_mock{path}{'?' + urllib.parse.urlencode(pairs) if pairs else ''}"
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._admin_token is not None:
            headers["Authorization"] = f"Bearer {self._admin_token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with _opener.open(request) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except OSError as error:
            raise ToolmockError(f"{self.url} does not answer ({error})") from error

    def call(self, method: str, path: str, body: Json = None, **query: Json) -> Json:
        return json.loads(self.text(method, path, body, **query))


def _refusal(answer: urllib.error.HTTPError) -> ToolmockError:
    text = answer.read().decode(errors="replace")
    try:
        error = json.loads(text)["error"]
        hint = "; the tests take it from TOOLMOCK_ADMIN_TOKEN" if error["code"] == "ADMIN_TOKEN_REQUIRED" else ""
        return ToolmockError(error["message"] + hint, error["code"], answer.code)
    except (ValueError, KeyError, TypeError):
        return ToolmockError(f"{answer.url} answers {answer.code}; is it a toolmock?", "NO_TOOLMOCK", answer.code)


class Clock:
    """The clock of an environment: tokens, links and scenarios go by it."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def now(self) -> str:
        return self._control.call("GET", "/clock")["now"]

    def advance(self, duration: Union[str, int, float]) -> str:
        """Moves it forward: `"2h"`, `"90s"`, or a number of seconds. Answers the time there."""
        text = duration if isinstance(duration, str) else f"{duration}s"
        return self._control.call("PUT", "/clock", {"advance": text})["now"]

    def set(self, now: str) -> str:
        return self._control.call("PUT", "/clock", {"now": now})["now"]

    def freeze(self) -> None:
        self._control.call("PUT", "/clock", {"frozen": True})

    def run(self) -> None:
        self._control.call("PUT", "/clock", {"frozen": False})


class Links:
    """Consent without a browser."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def list(self) -> List[Link]:
        """The links that can be followed, oldest first."""
        return self._control.call("GET", "/links")["links"]

    def wait(self, timeout: float = 3) -> Link:
        """The oldest link; waits so many seconds for one. Raises ToolmockError when there is none."""
        links = self._control.call("GET", "/links", wait_ms=int(timeout * 1000))["links"]
        if not links:
            latest = self._control.call("GET", "/requests", kind="request", limit=3)["requests"]
            texts = [f"{each['method']} {each['path']} {each['status']} ({each['id']})" for each in latest]
            reason = f"the latest requests: {', '.join(texts)}" if texts else "no request has reached this environment"
            raise ToolmockError(f"no open magic link after {timeout} s; {reason}", "TIMED_OUT", 408)
        return links[0]

    def approve(self, id: Union[str, Link, None] = None, as_: Optional[str] = None) -> str:
        """Gives consent at a link: its id, its URL, or what `wait` answers; by default at the oldest one, for which it waits.
        Answers where the browser would go."""
        return self._complete(id, {"decision": "approve", **({} if as_ is None else {"as": as_})})

    def deny(self, id: Union[str, Link, None] = None) -> str:
        return self._complete(id, {"decision": "deny"})

    def _complete(self, link: Union[str, Link, None], body: Mapping[str, str]) -> str:
        given = self.wait() if link is None else link
        id = given.rsplit("/magic/", 1)[-1] if isinstance(given, str) else given["id"]
        return self._control.call("POST", f"/links/{urllib.parse.quote(id, safe='')}/complete", body)["redirect_url"]


class Accounts:
    """Events of connected accounts that the client under test does not cause."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def list(self) -> List[Dict[str, Json]]:
        return self._control.call("GET", "/accounts")["accounts"]

    def event(self, id: str, event: str) -> Dict[str, Json]:
        """Applies `expire`, `disconnect`, `revoke_refresh_token` or `expire_access_token` to an account, by its id or, where
        only one account has it, its identifier. Raises ToolmockError with what is allowed."""
        path = f"/accounts/{urllib.parse.quote(id, safe='')}/{urllib.parse.quote(event, safe='')}"
        return self._control.call("POST", path)["account"]


class Scenarios:
    """What goes wrong, when, and where."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def start(self, name: str) -> None:
        self._change(name, "start")

    def stop(self, name: str) -> None:
        self._change(name, "stop")

    def define(self, document: Mapping[str, Json]) -> None:
        """Adds or replaces a scenario; the document is that of a scenario file."""
        self._control.call("PUT", f"/scenarios/{urllib.parse.quote(str(document['name']), safe='')}", document)

    def _change(self, name: str, change: str) -> None:
        self._control.call("POST", f"/scenarios/{urllib.parse.quote(name, safe='')}/{change}")


class Environment:
    """An environment of a toolmock with credentials of its own: what the program under test needs, and what a test does."""

    def __init__(self, control: Control, name: str, client_id: str, client_secret: str) -> None:
        self._control = control.within(name)
        self.url = control.url
        self.name = name
        self.client_id = client_id
        self.client_secret = client_secret
        self.clock = Clock(self._control)
        self.links = Links(self._control)
        self.accounts = Accounts(self._control)
        self.scenarios = Scenarios(self._control)

    @property
    def env(self) -> Dict[str, str]:
        """The variables for a program in a process of its own."""
        return {
            "TOOLMOCK_URL": self.url,
            "TOOLMOCK_CLIENT_ID": self.client_id,
            "TOOLMOCK_CLIENT_SECRET": self.client_secret,
        }

    def requests(self, **filter: Json) -> List[Dict[str, Json]]:
        """Entries of the request journal, oldest first: `requests(operation="execute_tool", status="4*")`."""
        return self._control.call("GET", "/requests", **filter)["requests"]

    def explain(self, id: str) -> str:
        """Why a request was answered as it was, by its `X-Request-Id`."""
        return self._control.call("GET", f"/requests/{urllib.parse.quote(id, safe='')}/explain")["text"]

    def seed(self, document: Mapping[str, Json]) -> None:
        """Adds a seed document."""
        self._control.call("POST", "/seed", document)

    def reset(self) -> None:
        """Goes back to the seed."""
        self._control.call("POST", "/reset")
