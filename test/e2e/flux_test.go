//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// variant is how an example that needs Flux is run. Its images are in registries, which the cluster can't reach.
type variant struct {
	name  string
	adapt func(miniCluster map[string]any)
}

// eachVariant runs a test with a launcher in the place of Flux, and with Flux if E2E_FLUX_IMAGE names an image that has it.
// Otherwise the report lists the second one as not run.
func eachVariant(t *testing.T, test func(s *space, v variant)) {
	t.Run("launcher", func(t *testing.T) {
		t.Parallel()
		test(newSpace(t), variant{"launcher", launch})
	})
	t.Run("flux", func(t *testing.T) {
		t.Parallel()
		image := os.Getenv("E2E_FLUX_IMAGE")
		if image == "" {
			t.Skip("needs FLUX_IMAGE, an OCI archive of an image that has flux and sh on its PATH")
		}
		test(newSpace(t), variant{"flux", func(spec map[string]any) { useFlux(spec, image) }})
	})
}

// applyVariant applies an example with what its MiniClusters run adapted.
func (s *space) applyVariant(v variant, example string, replace ...string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", example))
	require.NoError(s, err)
	var adapted strings.Builder
	for document := range strings.SplitSeq(strings.NewReplacer(replace...).Replace(string(text)), "\n---\n") {
		obj := &unstructured.Unstructured{}
		require.NoError(s, yaml.Unmarshal([]byte(document), &obj.Object))
		spec, _ := obj.Object["spec"].(map[string]any)
		switch obj.GetKind() {
		case "MiniCluster":
			v.adapt(spec)
		case "FluxJob":
			v.adapt(wholeMiniCluster(spec))
		}
		out, err := yaml.Marshal(obj.Object)
		require.NoError(s, err)
		adapted.WriteString("---\n" + string(out))
	}
	s.applyText(example, adapted.String())
}

// wholeMiniCluster turns the short form of a FluxJob, an image and a command, into a whole MiniCluster, and returns that.
func wholeMiniCluster(job map[string]any) map[string]any {
	if whole, ok := job["miniCluster"].(map[string]any); ok {
		return whole
	}
	container, whole := map[string]any{}, map[string]any{}
	move := func(to map[string]any, fields ...string) {
		for _, field := range fields {
			if value, ok := job[field]; ok {
				to[field] = value
				delete(job, field)
			}
		}
	}
	move(container, "image", "command", "resources")
	move(whole, "tasks")
	whole["containers"] = []any{container}
	job["miniCluster"] = whole
	return whole
}

// useFlux lets the containers run an image that has Flux.
func useFlux(spec map[string]any, image string) {
	spec["flux"] = map[string]any{"container": map[string]any{"disable": true}}
	for _, c := range spec["containers"].([]any) {
		container := c.(map[string]any)
		container["image"] = image
		small(container)
	}
}

// flags are those of flux submit, before a line of a batch.
var flags = regexp.MustCompile(`(?m)^(-[Nn] \d+ )+`)

// launch takes Flux away, and with it all that means something to Flux only. The leader runs the command; a batch's lines
// are a script, and a cluster that would wait for a person sleeps.
func launch(spec map[string]any) {
	spec["flux"] = map[string]any{"disable": true}
	for _, field := range []string{"interactive", "minSize", "tasks"} {
		delete(spec, field)
	}
	for _, c := range spec["containers"].([]any) {
		container := c.(map[string]any)
		container["image"] = "busybox:1.28"
		delete(container, "batch")
		delete(container, "logs")
		command, _ := container["command"].(string)
		if command == "" {
			command = "sleep 3600"
		}
		container["command"] = flags.ReplaceAllString(command, "")
		small(container)
	}
}

// small lets a container ask for little, so that all pods of an example fit on a small machine.
func small(container map[string]any) {
	if _, ok := container["resources"]; ok {
		container["resources"] = map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "8Mi"}}
	}
}
