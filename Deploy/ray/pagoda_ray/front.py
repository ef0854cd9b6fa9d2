"""Front: takes HTTP requests, has Ray choose a replica, and passes the answer through from the replica's own port.

Ray chooses and keeps count of requests; the bytes of answers do not go through its actors, which would cost
milliseconds for every chunk of a stream."""
import json
from contextlib import AsyncExitStack

import aiohttp
from ray import serve
from ray.serve.exceptions import DeploymentUnavailableError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pagoda_ray.prompt import prefix_body

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length", "host",
              "proxy-authenticate", "proxy-authorization", "expect"}
# The replica has done no work for the request: another one may.
REFUSED = {429, 503}


def forwarded(headers):
    return [(name, value) for name, value in headers.items() if name.lower() not in HOP_BY_HOP]


def hops(request):
    """X-Forwarded-For with the client that sent this request as the last address."""
    client = [request.client.host] if request.client else []
    return ", ".join(request.headers.getlist("x-forwarded-for") + client)


def failure(message, status=503):
    body = {"error": {"message": message, "type": "server_error", "param": None, "code": "no_replica"}}
    return Response(json.dumps(body), status, {"retry-after": "1"}, "application/json")


def lost_event(path):
    """The last event of a stream whose replica is gone, as clients of the API at `path` read it."""
    error = {"message": "the replica was lost; the answer is incomplete", "type": "server_error", "param": None,
             "code": "replica_lost"}
    if path.startswith("/v1/messages"):
        body = {"type": "error", "error": {"type": "api_error", "message": error["message"]}}
        return f"\n\nevent: error\ndata: {json.dumps(body)}\n\n".encode()
    return f"\n\ndata: {json.dumps({'error': error})}\n\n".encode()


@serve.deployment(name="Front")
class Front:
    def __init__(self, engine, max_tries=3, idle_seconds=600):
        self.engine = engine
        self.max_tries = max_tries
        self.timeout = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=idle_seconds)
        self.client = None

    async def __call__(self, request: Request):
        if self.client is None:
            self.client = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=self.timeout,
                                                auto_decompress=False)
        body = await request.body()
        headers = {name.lower(): value for name, value in request.headers.items()}
        headers["x-forwarded-for"] = hops(request)
        # No slot is reserved at the replica: that would be one more actor call, and the engine refuses excess requests itself.
        wanted = {"headers": headers, "exclude": [], "_reserve": False}
        if request.method == "POST":
            wanted["prefix"] = prefix_body(request.url.path, body)
        refusal = None
        for _ in range(self.max_tries):
            stack = AsyncExitStack()
            try:
                selection = await stack.enter_async_context(self.engine.choose_replica(**wanted))
                upstream = await stack.enter_async_context(self.client.request(
                    request.method, self.url(selection, request), headers=forwarded(headers), data=body or None))
            except DeploymentUnavailableError:
                await stack.aclose()
                return failure("no replica is deployed")
            except (aiohttp.ClientConnectorError, aiohttp.ServerDisconnectedError) as error:
                await stack.aclose()
                wanted["exclude"].append(selection.replica_id)
                refusal = failure(f"replica {selection.replica_id} does not answer: {error}")
                continue
            except BaseException:
                await stack.aclose()
                raise
            if upstream.status in REFUSED:
                refusal = Response(await upstream.read(), upstream.status, dict(forwarded(upstream.headers)))
                await stack.aclose()
                wanted["exclude"].append(selection.replica_id)
                continue
            return StreamingResponse(self.stream(stack, upstream), upstream.status, dict(forwarded(upstream.headers)))
        return refusal

    @staticmethod
    def url(selection, request):
        query = f"?{request.url.query}" if request.url.query else ""
        return selection.replica_metadata["url"] + request.url.path + query

    @staticmethod
    async def stream(stack, upstream):
        """Closed when the client leaves: that closes the connection to the replica, which cancels the answer. When the
        replica is lost, the client gets an error event before its connection is cut."""
        async with stack:
            try:
                async for chunk in upstream.content.iter_any():
                    yield chunk
            except aiohttp.ClientError:
                if upstream.headers.get("content-type", "").startswith("text/event-stream"):
                    yield lost_event(upstream.url.path)
                upstream.close()
                raise
            except BaseException:
                upstream.close()  # never back into the pool half read
                raise
