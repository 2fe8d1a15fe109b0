"""Drives the Python client mcp 2.x with its own OAuth support: nothing but the endpoint's URL, the issuer and the
client's credentials are given to it. Usage: py_oauth.py URL MODE ISSUER CLIENT SECRET
"""

import sys

from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from driver import drive_v2, run


class Memory:
    """Tokens for as long as this process lives."""

    tokens = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return None

    async def set_client_info(self, info):
        """The client is known to its issuer already."""


async def main():
    url, mode, issuer, name, secret = sys.argv[1:]
    provider = ClientCredentialsOAuthProvider(url, Memory(), name, secret, issuer=issuer)
    async with create_mcp_http_client(auth=provider) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=30) as client:
            await drive_v2(client)


run(main)
