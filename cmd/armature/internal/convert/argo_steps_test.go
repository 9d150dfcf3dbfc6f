package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// TestStepsRunAsArgo: whatever steps there are, and whatever fails, the same of them run, group after group. A group starts
// when all of the one before have succeeded, were skipped, or may fail.
func TestStepsRunAsArgo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, fate := map[string]string{}, map[string]string{}
		text, goes := "  - name: main\n    steps:\n", true
		for g := range rapid.IntRange(1, 4).Draw(t, "groups") {
			next := goes
			var steps []string
			for s := range rapid.IntRange(1, 3).Draw(t, "steps") {
				name := fmt.Sprintf("s%d-%d", g, s)
				fate[name] = rapid.SampledFrom([]string{"succeeded", "succeeded", "failed"}).Draw(t, "fate")
				when := rapid.SampledFrom([]string{"", "", "{{workflow.parameters.x}} == it", "{{workflow.parameters.x}} == other"}).Draw(t, "when")
				mayFail := rapid.IntRange(0, 3).Draw(t, "continueOn") == 0
				step := "{name: " + name + ", template: run"
				if when != "" {
					step += fmt.Sprintf(", when: %q", when)
				}
				if mayFail {
					step += ", continueOn: {failed: true}"
				}
				steps = append(steps, step+"}")
				switch {
				case !goes || strings.HasSuffix(when, "other"):
					want[name] = "skipped"
				default:
					want[name] = fate[name]
					next = next && (fate[name] == "succeeded" || mayFail)
				}
			}
			text += "    - [" + strings.Join(steps, ", ") + "]\n"
			goes = next
		}
		flow, _ := flowOf(t, "  arguments: {parameters: [{name: x, value: it}]}\n", text)
		got := run(t, flow, func(node string) string { return fate[node] })
		shown, _ := yaml.Marshal(flow.Spec.Flows)
		require.Equal(t, want, got, "%s\n%s", text, shown)
	})
}
