"""Manifests and Helm chart: valid, equal to each other, and with options and ports that the program has."""
import copy
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from replicas import PROGRAM, ROOT
from test_files import check_serve_config

KUBERNETES = ROOT / "Deploy/kubernetes"
CHART = ROOT / "Deploy/helm/pagoda"
HELM = Path(sys.executable).parent / "helm"
VERSION = "1.37"
MANIFESTS = ["deployment.yaml", "service.yaml", "hpa.yaml", "pdb.yaml", "networkpolicy.yaml", "router.yaml"]


def documents(name):
    return list(yaml.safe_load_all((KUBERNETES / name).read_text()))


def rendered(*values):
    """The chart's objects by kind and name."""
    options = [word for value in values for word in ("--set", value)]
    result = subprocess.run([HELM, "template", "pagoda", CHART, *options], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return {(doc["kind"], doc["metadata"]["name"]): doc for doc in yaml.safe_load_all(result.stdout) if doc}


def container(deployment):
    return deployment["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_follow_the_schema(name):
    for document in documents(name):
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_all_manifests_are_checked():
    assert {path.name for path in KUBERNETES.glob("*.yaml")} == {*MANIFESTS, "rayservice.yaml"}


def test_the_schema_check_finds_mistakes():
    broken = copy.deepcopy(documents("deployment.yaml")[0])
    container(broken)["port"] = 8080
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSION, strict=True)


def test_probes_and_scrapers_use_the_port_without_a_key():
    deployment = documents("deployment.yaml")[0]
    pod = container(deployment)
    assert pod["env"][1]["name"] == "PAGODA_API_KEY", "requests need a key"
    port = pod["args"][pod["args"].index("--metrics-port") + 1]
    assert {"name": "metrics", "containerPort": int(port)} in pod["ports"]
    assert deployment["spec"]["template"]["metadata"]["annotations"]["prometheus.io/port"] == port
    for probe, path in [("startupProbe", "/readyz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/livez")]:
        assert pod[probe]["httpGet"] == {"path": path, "port": "metrics"}
        assert pod[probe]["timeoutSeconds"] >= 5 and pod[probe]["failureThreshold"] > 1, "a loaded host answers late"


def test_the_replicas_use_options_that_there_are():
    options = subprocess.run([str(PROGRAM), "serve", "--help"], capture_output=True, text=True, check=True).stdout
    for option in [word for word in container(documents("deployment.yaml")[0])["args"] if word.startswith("--")]:
        assert option in options, option


def test_the_chart_renders_the_manifests():
    objects = rendered()
    plain = {(doc["kind"], doc["metadata"]["name"]): doc for name in MANIFESTS for doc in documents(name)}
    # With an autoscaler, an upgrade of the release must not reset the number of replicas.
    del plain["Deployment", "pagoda"]["spec"]["replicas"]
    assert objects == plain


@pytest.mark.parametrize("values", [
    (), ("gpus=1",), ("autoscaling.enabled=false", "replicas=5"), ("prefixes.claim=shared", "model.path=/models/x.gguf"),
    ("router.enabled=false", "networkPolicy.enabled=false"), ("metrics.port=9191",),
    ("image.digest=sha256:abc", "arguments={--max-num-seqs,16}"), ("nodeSelector.gpu=h200", "tolerations[0].operator=Exists"),
])
def test_the_chart_is_valid_for_other_values(values):
    for document in rendered(*values).values():
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_the_charts_values_have_their_effect():
    def pod(*values):
        return rendered(*values)["Deployment", "pagoda"]["spec"]["template"]["spec"]
    assert pod("gpus=2")["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 2
    assert pod("image.digest=sha256:abc")["containers"][0]["image"] == "pagoda@sha256:abc"
    assert pod("arguments={--max-num-seqs,16}")["containers"][0]["args"][-2:] == ["--max-num-seqs", "16"]
    volumes = {volume["name"]: volume for volume in pod("prefixes.claim=shared")["volumes"]}
    assert volumes["prefixes"]["persistentVolumeClaim"] == {"claimName": "shared"}
    assert rendered("autoscaling.enabled=false", "replicas=5")["Deployment", "pagoda"]["spec"]["replicas"] == 5
    assert ("Deployment", "pagoda-router") not in rendered("router.enabled=false")


def test_an_image_in_a_registry_needs_its_digest():
    repository = "image.repository=registry.example.org/pagoda"
    refused = subprocess.run([HELM, "template", "pagoda", CHART, "--set", repository], capture_output=True, text=True)
    assert refused.returncode != 0 and "registry.example.org/pagoda is in a registry" in refused.stderr
    for more, image in [("image.digest=sha256:abc", "@sha256:abc"), ("image.allowTag=true", ":0.1.0")]:
        assert container(rendered(repository, more)["Deployment", "pagoda"])["image"] == "registry.example.org/pagoda" + image


def test_helms_own_checks_pass():
    result = subprocess.run([HELM, "lint", "--strict", CHART], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_the_ray_service_has_good_pods_and_a_good_configuration():
    service = documents("rayservice.yaml")[0]
    cluster = service["spec"]["rayClusterConfig"]
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": group["template"]["spec"]}
        kubernetes_validate.validate(pod, VERSION, strict=True)
    check_serve_config(yaml.safe_load(service["spec"]["serveConfigV2"]))
