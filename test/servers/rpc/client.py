"""The walk of the tests, by gRPC of Python: python3 client.py CODE_FOLDER, with the variables of `toolmock run`"""

import os
import sys
import urllib.request
from urllib.parse import parse_qs, urlencode, urlparse

url, code = os.environ["TOOLMOCK_URL"], sys.argv[1]
sys.path.insert(0, code)
import grpc  # noqa: E402
from acme.tools.v1 import tools_pb2, tools_pb2_grpc  # noqa: E402
from google.protobuf import struct_pb2  # noqa: E402

form = urlencode(
    {
        "grant_type": "client_credentials",
        "client_id": os.environ["TOOLMOCK_CLIENT_ID"],
        "client_secret": os.environ["TOOLMOCK_CLIENT_SECRET"],
    }
)
import json  # noqa: E402

with urllib.request.urlopen(f"{url}/oauth/token", form.encode()) as answer:
    token = json.load(answer)["access_token"]
metadata = (("authorization", f"Bearer {token}"),)

address = urlparse(url).netloc
is_tls = url.startswith("https:")
channel = grpc.secure_channel(address, grpc.ssl_channel_credentials()) if is_tls else grpc.insecure_channel(address)
accounts = tools_pb2_grpc.ConnectedAccountsStub(channel)
tools = tools_pb2_grpc.ToolsStub(channel)


def refused(call, request):
    try:
        call(request, metadata=metadata)
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call succeeded")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def approve(link):
    try:
        urllib.request.build_opener(NoRedirect).open(f"{link}?decision=approve")
    except urllib.error.HTTPError as redirect:
        return parse_qs(urlparse(redirect.headers["location"]).query)["auth_request_id"][0]
    raise AssertionError("the link did not redirect")


assert accounts.ListAccounts(tools_pb2.ListAccountsRequest(), metadata=metadata).total_size == 0
create = tools_pb2.CreateAccountRequest(connector="mail", identifier="ada@example.com")
account = accounts.CreateAccount(create, metadata=metadata).connected_account
link = accounts.CreateMagicLink(
    tools_pb2.MagicLinkRequest(id=account.id, user_verify_url="http://localhost:3000/verify"), metadata=metadata
)
verify = tools_pb2.VerifyUserRequest(auth_request_id=approve(link.link), identifier="ada@example.com")
assert accounts.VerifyUser(verify, metadata=metadata).post_user_verify_redirect_url.endswith("/connect/success")


def execution(to):
    tool_input = struct_pb2.Struct()
    tool_input.update({"to": to, "subject": "Lunch", "body": "On Friday?"})
    return tools_pb2.ExecuteToolRequest(
        connected_account_id=account.id, tool_name="mail_send_message", tool_input=tool_input
    )


assert tools.ExecuteTool(execution("grace@example.com"), metadata=metadata).execution_id.startswith("exec_")
assert refused(accounts.GetDetails, tools_pb2.Locator(id="ca_unknown")).code() == grpc.StatusCode.NOT_FOUND
assert refused(accounts.CreateAccount, create).code() == grpc.StatusCode.ALREADY_EXISTS
tool = refused(tools.ExecuteTool, execution("eve@blocked.example"))
assert tool.code() == grpc.StatusCode.INTERNAL
details = dict(tool.trailing_metadata())["grpc-status-details-bin"]
assert b"TOOL_ERROR" in details and b"recipient_blocked" in details, details
accounts.DeleteAccount(tools_pb2.Locator(id=account.id), metadata=metadata)
assert refused(accounts.GetDetails, tools_pb2.Locator(id=account.id)).code() == grpc.StatusCode.NOT_FOUND
try:
    accounts.ListAccounts(tools_pb2.ListAccountsRequest(), metadata=metadata, timeout=5, compression=grpc.Compression.Gzip)
finally:
    channel.close()
print("walked")
