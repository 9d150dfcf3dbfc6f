package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestControl(t *testing.T) {
	p := newPlace(t)
	p.create(flowOf("long", node("a", "sleep 1000")))
	p.create(flowOf("bad", node("a", "true"), node("b", "exit 3", "a")))
	p.waitState("long", v1alpha1.StateRunning)
	p.waitState("bad", v1alpha1.StateFailed)

	assert.Equal(t, "jobflow.api.practice.com/long suspended\n", p.succeeds("suspend", "jf/long"))
	p.waitSuspended("long", true)
	assert.Equal(t, "jobflow.api.practice.com/long\n", p.succeeds("resume", "jobflow", "long", "-o", "name"))
	p.waitSuspended("long", false)
	assert.Contains(t, p.fails("retry", "jobflow/long"), "jobflows/long: it has no failed nodes: its state is Running")
	assert.Equal(t, "jobflow.api.practice.com/long terminated\n", p.succeeds("terminate", "jobflow/long"))
	p.waitState("long", v1alpha1.StateFailed)
	assert.Contains(t, p.fails("terminate", "jobflow/long"), "it has ended already")

	assert.Equal(t, "jobflow.api.practice.com/bad retried\njobflow.api.practice.com/long retried\n", p.succeeds("retry", "jobflow", "--all"))
	p.waitState("long", v1alpha1.StateRunning)
	p.waitState("bad", v1alpha1.StateFailed)

	p.offers("jobflow/bad\njobflow/long\n:4\n", "graph", "jobflow/")
	p.offers("bad\n:4\n", "retry", "jobflow", "b")
	assert.Contains(t, p.fails("suspend", "jobflow/none"), `jobflows.api.practice.com "none" not found`)
	assert.Contains(t, p.fails("suspend", "jobflow/lnog"), `"lnog" not found; did you mean jobflows/long?`)
	assert.Contains(t, p.fails("tree", "jf", "bda"), `"bda" not found; did you mean jobflows/bad?`)
	assert.Equal(t, "jobflow.api.practice.com/long resumed (no change)\n", p.succeeds("resume", "jf/long"))
	assert.Contains(t, p.fails("suspend", "jobflow/bad"), "jobflows/bad: it has ended already: its state is Failed")
	out, errs, code := p.armature("suspend", "jobflow", "--all")
	assert.Zero(t, code, errs)
	assert.Equal(t, "jobflow.api.practice.com/long suspended\n", out)
	assert.Equal(t, "jobflows/bad: skipped: it has ended already: its state is Failed\n", errs)
	assert.Contains(t, p.fails("suspend", "jobflow", "-l", "a=b"), "no objects found")
	assert.Contains(t, p.fails("suspend", "configmap/kube-root-ca.crt"), "a ConfigMap can't be suspended; supported kinds: DaemonJob, FluxJob, JobFlow, MiniCluster, ReplicaJob")
	assert.Contains(t, p.fails("suspend"), "You must provide one or more resources")
}

func TestGraph(t *testing.T) {
	p := newPlace(t)
	p.create(flowOf("bad", node("a", "true"), node("b", "exit 3", "a"), node("c", "true", "b")))
	p.waitState("bad", v1alpha1.StateFailed)

	assert.Equal(t, `flowchart LR
  n0("a"):::Succeed
  classDef Succeed fill:#d4edda,stroke:#2e7d32,color:#212121
  n1("b"):::Failed
  classDef Failed fill:#f8d7da,stroke:#c62828,color:#212121
  n2("c"):::Skipped
  classDef Skipped fill:#eeeeee,stroke:#9e9e9e,color:#212121
  n0 --> n1
  n1 --> n2
`, p.succeeds("graph", "jobflow/bad", "-o", "mermaid"))
	assert.Contains(t, p.succeeds("graph", "jf", "bad"), "<title>b: Failed</title>")
	assert.Contains(t, p.succeeds("graph", "-f", "../../../examples/jobflow/when.yaml", "--local", "-o", "dot"), `digraph "jobflow-example-when" {`)
	assert.Contains(t, p.fails("graph", "jobflow/bad", "-o", "png"), `--output: "png"; want dot, mermaid, svg`)
	assert.Contains(t, p.fails("graph", "configmap/kube-root-ca.crt"), "ConfigMap/kube-root-ca.crt can't be drawn: want a JobFlow")
	assert.Contains(t, p.fails("graph", "jobflow/none"), "not found")
}
