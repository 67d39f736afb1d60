"""JSON numbers to the letter: `Exact` lets a client write `1.10` and tells it from `1.1`.

Python reads large integers exactly, but not the text of a fraction. On the way out the string
"number 1.10" becomes the number 1.10; on the way in every number that is no plain integer becomes
such a string.
"""
import re

WRITTEN = re.compile(r'"number ([^"]+)"')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?')


def marked(token):
    text = token.group()
    plain = text.startswith('"') or (text.lstrip("-").isdigit() and text != "-0")
    return text if plain else f'"number {text}"'


class Exact:
    """A socket whose numbers stay as they were written."""

    def __init__(self, socket):
        self.socket = socket

    async def send(self, text):
        await self.socket.send(WRITTEN.sub(r"\1", text))

    async def recv(self):
        return TOKEN.sub(marked, await self.socket.recv())

    async def __aiter__(self):
        async for text in self.socket:
            yield TOKEN.sub(marked, text)

    async def close(self):
        await self.socket.close()
