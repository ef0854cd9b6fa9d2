"""Engine: a deployment whose replicas each own one `pagoda serve`."""
import asyncio
import json
import os
import re
import select
import shlex
import shutil
import subprocess
import time
import urllib.request

import aiohttp
import ray
from ray import serve

from pagoda_ray import VERSION

# Ends the server when this process ends for any reason, because that closes the pipe on standard input; ends with the server
# and its status, because this process waits for the end of either output.
GUARDIAN = """exec 3<&0
"$@" </dev/null 3<&- & child=$!
(read -r _ <&3; kill $child) >/dev/null 2>&1 & watcher=$!
wait $child; status=$?
kill $watcher 2>/dev/null
exit $status"""


class EngineError(RuntimeError):
    """The server did not start, or is not the one that was expected."""


@serve.deployment(name="Engine")
class Engine:
    def __init__(self, program="pagoda", arguments=(), host="127.0.0.1", expect_version=VERSION,
                 expect_fingerprint=None, start_seconds=600, drain_seconds=30):
        self.name = serve.get_replica_context().replica_id.unique_id
        self.drain_seconds = drain_seconds
        if host == "auto":
            host = ray.util.get_node_ip_address()
        path = shutil.which(program)
        if not path:
            raise EngineError(f"there is no program '{program}' on this node")
        if isinstance(arguments, str):
            arguments = shlex.split(arguments)
        command = [path, "serve", "--host", host, "--port", "0", "--replica-name", self.name, "--drain",
                   str(int(drain_seconds)), *arguments]
        # Without a buffer: select() does not see lines that are in one.
        self.process = subprocess.Popen(["/bin/sh", "-c", GUARDIAN, "sh", *command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0, start_new_session=True)
        self.url = self.wait_for_address(start_seconds)
        key = os.environ.get("PAGODA_API_KEY")
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.info = self.read_model_info()
        self.check_identity(expect_version, expect_fingerprint)
        self.client = None

    def wait_for_address(self, seconds):
        """The server prints its address once the model has loaded."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.process.stdout], [], [], 1)
            line = self.process.stdout.readline().decode() if ready else ""
            match = re.search(r"http://\S+?:\d+", line)
            if match:
                return match.group()
            if ready and not line:
                raise EngineError(f"replica {self.name}: pagoda serve ended with status {self.process.wait()} before it "
                                  "accepted requests; the replica's log has its messages")
        self.stop()
        raise EngineError(f"replica {self.name}: pagoda serve did not come up within {seconds} s")

    def read_model_info(self):
        request = urllib.request.Request(self.url + "/model_info", headers=self.headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def check_identity(self, version, fingerprint):
        for what, expected in (("version", version), ("fingerprint", fingerprint)):
            actual = self.info.get(what)
            if expected and actual != expected:
                self.stop()
                raise EngineError(f"replica {self.name} has {what} '{actual}'; the deployment expects '{expected}'")

    def record_replica_metadata(self):
        """Read once by the routers: the address and identity of this replica."""
        return {"url": self.url, "version": self.info["version"], "fingerprint": self.info["fingerprint"]}

    async def get(self, path):
        if self.client is None:
            self.client = aiohttp.ClientSession(headers=self.headers, timeout=aiohttp.ClientTimeout(total=10))
        async with self.client.get(self.url + path) as response:
            return response.status, await response.json()

    async def record_autoscaling_stats(self):
        """The input of scaling.by_queue_length()."""
        _, info = await self.get("/server_info")
        return {"queue_length": info["queue_length"], "running": info["running"]}

    async def check_health(self):
        if self.process.poll() is not None:
            raise EngineError(f"replica {self.name}: pagoda serve ended with status {self.process.returncode}")
        status, health = await self.get("/health")
        if status != 200:
            raise EngineError(f"replica {self.name} is not well: {health}")

    async def __call__(self):
        """For programs that look for a replica themselves."""
        return self.record_replica_metadata()

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(self.drain_seconds + 10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()

    async def __del__(self):
        if self.client is not None:
            await self.client.close()
        await asyncio.get_running_loop().run_in_executor(None, self.stop)
