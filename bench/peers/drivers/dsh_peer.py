"""DeepSeek Harness through its Python SDK, which starts the `dsh` runtime: one runtime for all cases."""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor

from deepseek_harness import DeepSeekHarness

from every_case import RUN_SECONDS, arguments, said

PROFILE = "sdk"
PATCH = """
- insert:
    - id: peers-tools
      name: {plugin}
"""


def home(folder):
    """A home whose profile has the tools of the comparison."""
    dsh = pathlib.Path(sysconfig.get_path("scripts")) / "dsh"
    environment = {**os.environ, "DSH_HOME": str(folder)}
    command = [str(dsh), "--profile", PROFILE, "--dump-default-config"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    plugin = folder / "profiles" / PROFILE / "dsh_tools.mjs"
    shutil.copy(pathlib.Path(__file__).with_name("dsh_tools.mjs"), plugin)
    patch = folder / "tools.patch.yml"
    patch.write_text(PATCH.format(plugin=plugin))
    return patch


class Runtime:
    """The runtime, started where it is not running."""

    def __init__(self, folder, patch, base_url):
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.options = {
            "dsh_home": str(folder),
            "cwd": str(self.workspace),
            "profile": PROFILE,
            "patches": (str(patch),),
            "provider": "deepseek-official",
            "model": "deepseek-v4-flash",
            "base_url": base_url,
            "api_key": "none",
        }
        self.harness = None

    def run(self, case):
        """Gives the last text, and how the run ended if it did not complete. The time begins when the runtime stands."""
        if self.harness is None:
            self.harness = DeepSeekHarness(**self.options)
            self.harness.start()
        runs = ThreadPoolExecutor(1)
        try:
            result = runs.submit(self.harness.run, f"Do it: {case}", session_id=case).result(timeout=RUN_SECONDS)
        except TimeoutError:
            self.close()
            return None, "still running"
        except Exception as error:
            self.close()
            return None, said(error)
        finally:
            runs.shutdown(wait=True)
        if result.finish_reason == "completed":
            return result.final_response, None
        ends = [event["data"]["reason"] for event in result.events if event["type"] == "turn/end"]
        return result.final_response, f"turn ended: {json.dumps(ends[-1:])}"

    def close(self):
        if self.harness is not None:
            self.harness.close()
            self.harness = None


def main():
    given = arguments()
    folder = pathlib.Path(tempfile.mkdtemp())
    noted = folder / "ran.jsonl"
    os.environ.update(PEERS_RAN=str(noted), OTEL_SDK_DISABLED="true", **({"PEERS_BEST": "1"} if given.best else {}))
    runtime = Runtime(folder, home(folder), f"{given.url}by-task/v1")
    with open(given.out, "a", encoding="utf-8") as out:
        for case in given.cases:
            noted.write_text("")
            answer, crash = runtime.run(case)
            ran = [json.loads(line) for line in noted.read_text().splitlines()]
            print(json.dumps({"case": case, "ran": ran, "answer": answer, "crash": crash}), file=out, flush=True)
    runtime.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
