package minicluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
)

// dryRun asks the API server what it thinks of a spec. Fields that it doesn't know are refused.
func (p *place) dryRun(spec string) error {
	p.T.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "api.practice.com/v1alpha1", "kind": "MiniCluster"}}
	obj.SetNamespace(p.Namespace)
	obj.SetName("dry")
	var fields map[string]any
	require.NoError(p.T, yaml.Unmarshal([]byte(spec), &fields))
	obj.Object["spec"] = fields
	return p.Client.Create(p.T.Context(), obj, client.DryRunAll, client.FieldValidation("Strict"))
}

func TestTheSchemaRefuses(t *testing.T) {
	const container = `{image: i, command: c}`
	tests := map[string]struct{ spec, refused string }{
		"the smallest":         {`containers: [{image: i}]`, ""},
		"no container":         {`containers: []`, "spec.containers"},
		"no image":             {`containers: [{command: c}]`, "image"},
		"size over maxSize":    {`{size: 5, maxSize: 4, containers: [C]}`, "size is over maxSize"},
		"size under minSize":   {`{size: 2, minSize: 3, containers: [C]}`, "size is under minSize"},
		"size 0":               {`{size: 0, containers: [C]}`, "spec.size"},
		"no deadline":          {`{deadlineSeconds: 0, containers: [C]}`, "spec.deadlineSeconds"},
		"backoffLimit 0":       {`{backoffLimit: 0, containers: [C]}`, ""},
		"tasks 0":              {`{tasks: 0, containers: [C]}`, ""},
		"two runners":          {`containers: [{image: i, runFlux: true}, {image: j, runFlux: true}]`, "exactly one must have runFlux"},
		"no runner":            {`containers: [{image: i, name: a}, {image: j, name: b}]`, "exactly one must have runFlux"},
		"a nameless sidecar":   {`containers: [{image: i, runFlux: true}, {image: j}]`, "needs a name"},
		"a nameless service":   {`{containers: [C], services: [{image: i}]}`, "each of services needs a name"},
		"launcher and batch":   {`containers: [{image: i, command: c, launcher: true, batch: true}]`, "launcher and batch exclude each other"},
		"batchRaw alone":       {`containers: [{image: i, command: c, batchRaw: true}]`, "batchRaw needs batch"},
		"batch of nothing":     {`containers: [{image: i, batch: true}]`, "batch needs a command"},
		"command and script":   {`containers: [{image: i, command: c, commands: {script: s}}]`, "command and commands.script exclude each other"},
		"pull contradiction":   {`containers: [{image: i, pullAlways: true, imagePullPolicy: Never}]`, "contradict"},
		"interactive command":  {`{interactive: true, containers: [C]}`, ""},
		"interactive launcher": {`{interactive: true, containers: [{image: i, command: c, launcher: true}]}`, ""},
		"no view's image":      {`{flux: {container: {disable: true, image: v}}, containers: [C]}`, ""},
		"interactive, no flux": {`{interactive: true, flux: {disable: true}, containers: [{image: i}]}`, "interactive needs Flux"},
		"two volume sources":   {`containers: [{image: i, volumes: {v: {claimName: a, secretName: b}}}]`, "exactly one of hostPath"},
		"restartPolicy":        {`{pod: {restartPolicy: OnFailure}, containers: [C]}`, "pod.restartPolicy must be Never"},
		"mungeSecret":          {`{flux: {mungeSecret: m}, containers: [C]}`, "flux.mungeSecret is not supported"},
		"mungeSecret, empty":   {`{flux: {mungeSecret: ""}, containers: [C]}`, ""},
		"bursting":             {`{flux: {bursting: {leadBroker: {address: a, name: n, size: 1}}}, containers: [C]}`, "flux.bursting is not supported"},
		"arch":                 {`{flux: {arch: arm}, containers: [C]}`, "flux.arch is not supported"},
		"disableSocket":        {`{flux: {disableSocket: true}, containers: [C]}`, "flux.disableSocket is not supported"},
		"simple scheduler":     {`{flux: {scheduler: {simple: true}}, containers: [C]}`, "flux.scheduler.simple is not supported"},
		"queuePolicy":          {`{flux: {brokerConfig: b, scheduler: {queuePolicy: easy}}, containers: [C]}`, "flux.scheduler.queuePolicy has no effect"},
		"a wrong interface":    {`{network: {interface: "eth0:%p\"\n"}, containers: [C]}`, "spec.network.interface"},
		"a field there isn't":  {`{sizes: 3, containers: [C]}`, "unknown field"},
	}
	p := newPlace(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := p.dryRun(strings.ReplaceAll(tt.spec, "[C]", "["+container+"]"))
			if tt.refused == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.refused)
			}
		})
	}
	long := &v1alpha1.MiniCluster{Spec: v1alpha1.MiniClusterSpec{Containers: []v1alpha1.MiniClusterContainer{{Image: "i"}}}}
	long.Namespace = p.Namespace
	for _, name := range []string{"a.b", "0a", strings.Repeat("a", 53)} {
		long.Name, long.ResourceVersion = name, ""
		assert.ErrorContains(t, p.Client.Create(t.Context(), long, client.DryRunAll), "metadata.name must be at most 52", name)
	}
}

// What the schema can't tell, the operator tells by condition, and makes nothing.
func TestTheOperatorRefuses(t *testing.T) {
	p := newPlace(t)
	webhook.Spare(t, p.Namespace)
	p.manage()
	tests := []struct {
		change func(*v1alpha1.MiniCluster)
		want   string
	}{
		{func(c *v1alpha1.MiniCluster) { c.Spec.Flux.OptionFlags = "-o a" }, "spec.flux.optionFlags: Forbidden: Flux is disabled"},
		{func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Logs = "/x" }, "spec.containers[0].logs: Forbidden"},
		{func(c *v1alpha1.MiniCluster) { c.Spec.JobLabels = map[string]string{"a b": "c"} }, "spec.jobLabels: Invalid value"},
		{func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Environment = map[string]string{"A=B": "c"} }, "spec.containers[0].environment[A=B]"},
	}
	for i, tt := range tests {
		p.create(fmt.Sprintf("bad-%d", i), 2, "true", tt.change)
	}
	for i, tt := range tests {
		name := fmt.Sprintf("bad-%d", i)
		c := p.wait(name, "it is refused", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, "Stalled") })
		assert.Equal(t, v1alpha1.ReasonInvalidSpec, condition(t, c, "Ready").Reason)
		assert.Contains(t, condition(t, c, "Ready").Message, tt.want)
		assert.Equal(t, v1alpha1.MiniClusterStatePending, c.Status.State)
		assert.Contains(t, p.OneEvent(name, v1alpha1.ReasonInvalidSpec).Note, tt.want)
		assert.Nil(t, p.job(name))
	}
	p.change("bad-0", func(s *v1alpha1.MiniClusterSpec) { s.Flux.OptionFlags = "" })
	c := p.waitState("bad-0", v1alpha1.MiniClusterStateSucceeded)
	assert.False(t, isTrue(c, "Stalled"))
}

// Manifests of flux-operator move by changing their apiVersion.
func TestManifestsOfFluxOperator(t *testing.T) {
	files, err := filepath.Glob("testdata/flux-operator/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	p := newPlace(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var obj unstructured.Unstructured
			require.NoError(t, yaml.Unmarshal(text, &obj.Object))
			require.Equal(t, "flux-framework.org/v1alpha2", obj.GetAPIVersion())
			obj.SetAPIVersion("api.practice.com/v1alpha1")
			obj.SetNamespace(p.Namespace)
			assert.NoError(t, p.Client.Create(t.Context(), &obj, client.DryRunAll, client.FieldValidation("Strict")))
		})
	}
}

func TestExamplesAreAccepted(t *testing.T) {
	files, err := filepath.Glob(examples + "*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	p := newPlace(t)
	for _, file := range files {
		out, err := p.Kubectl("create", "--dry-run=server", "--validate=strict", "-f", file)
		assert.NoError(t, err, "%s: %s", file, out)
	}
}
