"""The files in Deploy for other programs: manifests, container file, unit; each is validated as its reader would."""
import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from replicas import PROGRAM, ROOT, free_port, wait_until

KUBERNETES = ROOT / "Deploy/kubernetes"
CONTAINER = ROOT / "Deploy/container/Containerfile"
UNIT = ROOT / "Deploy/systemd/pagoda.service"
VERSION = "1.37"


def documents(name):
    return list(yaml.safe_load_all((KUBERNETES / name).read_text()))


@pytest.mark.parametrize("name", ["deployment.yaml", "service.yaml", "hpa.yaml"])
def test_manifests_follow_the_schema(name):
    for document in documents(name):
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_the_schema_check_finds_mistakes():
    broken = copy.deepcopy(documents("deployment.yaml")[0])
    broken["spec"]["template"]["spec"]["containers"][0]["port"] = 8080
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSION, strict=True)


def test_pods_have_time_to_drain():
    """The wait for answers in flight must be shorter than the time until the kill."""
    pod = documents("deployment.yaml")[0]["spec"]["template"]["spec"]
    drain = int(container_instruction("ENTRYPOINT")[-1])
    assert pod["terminationGracePeriodSeconds"] > drain + 5
    stop = int(re.search(r"TimeoutStopSec=(\d+)", UNIT.read_text()).group(1))
    assert stop > int(re.search(r"--drain (\d+)", UNIT.read_text()).group(1))


def check_serve_config(config):
    from pagoda_ray.app import build
    from ray.serve.schema import ServeDeploySchema
    parsed = ServeDeploySchema.model_validate(config)
    assert parsed.applications[0].import_path == "pagoda_ray.app:build"
    build(config["applications"][0]["args"])  # refuses unknown arguments


def test_the_ray_service_has_good_pods_and_a_good_configuration():
    service = documents("rayservice.yaml")[0]
    cluster = service["spec"]["rayClusterConfig"]
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": group["template"]["spec"]}
        kubernetes_validate.validate(pod, VERSION, strict=True)
    check_serve_config(yaml.safe_load(service["spec"]["serveConfigV2"]))


def test_the_configuration_for_serve_deploy_is_good():
    config = yaml.safe_load((ROOT / "Deploy/ray/serve.yaml").read_text())
    check_serve_config(config)
    config["applications"][0]["args"]["modle"] = "x"
    with pytest.raises(ValueError, match="modle"):
        check_serve_config(config)


def container_instruction(name):
    """The last instruction of that name, in its JSON form."""
    text = CONTAINER.read_text().replace("\\\n", " ")
    line = [line for line in text.splitlines() if line.startswith(name + " ")][-1]
    return json.loads(line[line.index("["):])


def test_the_container_file_passes_the_linter():
    linter = Path(sys.executable).parent / "hadolint"
    result = subprocess.run([str(linter), "--no-color", str(CONTAINER)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    broken = subprocess.run([str(linter), "--no-color", "-"], input="FROM debian:latest\nRUN cd /var\n",
                            capture_output=True, text=True)
    assert broken.returncode != 0, "the linter finds nothing"


def test_the_container_runs_and_its_health_check_passes(tmp_path):
    """The last stage's commands, with the program of this build and another port."""
    port = str(free_port())
    command = [PROGRAM if word == "/usr/local/bin/pagoda" else word.replace("8080", port).replace("/var/cache", str(tmp_path))
               for word in container_instruction("ENTRYPOINT") + container_instruction("CMD")]
    health = [word.replace("8080", port) for word in container_instruction("HEALTHCHECK")]
    process = subprocess.Popen([*command, "--api-key", "key"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: subprocess.run(health).returncode == 0, "a good health check")
    finally:
        process.terminate()
        assert process.wait(timeout=300) == 0


def test_the_container_installs_the_libraries_that_the_program_needs():
    needed = re.findall(r"NEEDED.*\[(.+)\]", subprocess.run(["readelf", "-d", str(PROGRAM)], capture_output=True,
                                                            text=True, check=True).stdout)
    found = dict(re.findall(r"^\s+(\S+) .* => (\S+)$", subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True,
                                                                      text=True, check=True).stdout, re.MULTILINE))
    base = {"libc6", "libgcc-s1"}  # part of every Debian system
    for library in needed:
        if library.startswith(("libswift", "lib_", "libFoundation", "libdispatch", "libBlocksRuntime", "libXCTest")):
            continue  # static in the container's build
        assert library in found, f"{library} is nowhere"
        owner = subprocess.run(["dpkg", "-S", str(Path(found[library]).resolve())], capture_output=True, text=True).stdout
        package = owner.split(":")[0]
        assert package in base or re.search(rf"[ \n]{re.escape(package)}[ \n]", CONTAINER.read_text()), (library, package)


def test_the_unit_uses_options_that_there_are():
    options = subprocess.run([str(PROGRAM), "serve", "--help"], capture_output=True, text=True, check=True).stdout
    for text in (UNIT.read_text(), " ".join(container_instruction("ENTRYPOINT"))):
        for option in re.findall(r" (--[a-z-]+)", text):
            assert option in options, option


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_the_unit_is_one_that_systemd_reads(tmp_path):
    unit = tmp_path / "pagoda.service"
    unit.write_text(UNIT.read_text().replace("/usr/local/bin/pagoda", "/bin/true"))
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    assert result.returncode == 0 and "pagoda.service" not in result.stderr, result.stderr
