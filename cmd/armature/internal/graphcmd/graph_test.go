package graphcmd

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// diamond is a flow that has begun: a, then b and c, then d; e at the end.
func diamond() *v1alpha1.JobFlow {
	flow := &v1alpha1.JobFlow{}
	flow.Name, flow.Generation = "diamond", 1
	flow.Spec.Flows = []v1alpha1.Flow{
		{Name: "a"}, {Name: "b", Dependencies: []string{"a"}, When: `jobs.a.output == "<b>"`},
		{Name: "c", Dependencies: []string{"a"}, ForEach: &v1alpha1.ForEach{}}, {Name: "d", Dependencies: []string{"b", "c"}},
	}
	flow.Spec.Finally = []v1alpha1.Flow{{Name: "e", AllowFailure: true}}
	flow.Status.ObservedGeneration = 1
	flow.Status.Finished, flow.Status.Skipped = "0-1", "1"
	flow.Status.Flows = []v1alpha1.FlowStatus{{Name: "c", State: v1alpha1.FlowRunning}}
	return flow
}

func TestDot(t *testing.T) {
	var b strings.Builder
	require.NoError(t, writeDot(&b, newGraph(diamond())))
	assert.Equal(t, `digraph "diamond" {
  rankdir=LR;
  node [shape=box, style="rounded,filled", fontname=sans];
  n0 [label="a", fillcolor="#d4edda", color="#2e7d32", tooltip="Succeed"];
  n1 [label="b\nwhen jobs.a.output == \"<b>\"", fillcolor="#eeeeee", color="#9e9e9e", tooltip="Skipped"];
  n2 [label="c (for each)", fillcolor="#cfe2ff", color="#1565c0", tooltip="Running"];
  n3 [label="d", fillcolor="#ffffff", color="#616161", tooltip="Pending"];
  n4 [label="e\nmay fail", fillcolor="#ffffff", color="#616161", tooltip="Pending", style="rounded,filled,dashed"];
  n0 -> n1;
  n0 -> n2;
  n1 -> n3;
  n2 -> n3;
}
`, b.String())
}

func TestMermaid(t *testing.T) {
	var b strings.Builder
	require.NoError(t, writeMermaid(&b, newGraph(diamond())))
	assert.Contains(t, b.String(), "flowchart LR\n  n0(\"a\"):::Succeed\n  classDef Succeed fill:#d4edda,stroke:#2e7d32,color:#212121\n")
	assert.Contains(t, b.String(), `n1("b<br>when jobs.a.output == #quot;#lt;b#gt;#quot;"):::Skipped`)
	assert.Contains(t, b.String(), "  n2 --> n3\n")
	assert.Contains(t, b.String(), "  style n4 stroke-dasharray:4 3\n", "the one of finally")
}

func TestWhatIsWrongIsDrawn(t *testing.T) {
	flow := &v1alpha1.JobFlow{}
	flow.Spec.Flows = []v1alpha1.Flow{
		{Name: "a", Dependencies: []string{"b", "a"}}, {Name: "b", Dependencies: []string{"a", "nowhere"}}, {Name: "b"},
	}
	g := newGraph(flow)
	require.Len(t, g.nodes, 4)
	assert.Equal(t, node{name: "nowhere", state: "Missing"}, g.nodes[3])
	var b strings.Builder
	require.NoError(t, writeSVG(&b, g))
	assert.Contains(t, b.String(), "nowhere: Missing")
}

// TestPictures: boxes don't overlap, each is behind what it depends on, and what is written is XML.
func TestPictures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flow := &v1alpha1.JobFlow{}
		n := rapid.IntRange(1, 25).Draw(t, "nodes")
		for i := range n {
			f := v1alpha1.Flow{Name: rapid.StringMatching(`[a-z<&"]{1,30}`).Draw(t, "name") + string(rune('0'+i%10)) + string(rune('a'+i/10))}
			for d := range i {
				if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					f.Dependencies = append(f.Dependencies, flow.Spec.Flows[d].Name)
				}
			}
			flow.Spec.Flows = append(flow.Spec.Flows, f)
		}
		g := newGraph(flow)
		boxes, width, height := place(g)
		for i, a := range boxes {
			assert.LessOrEqual(t, a.x+a.width, width)
			assert.LessOrEqual(t, a.y+a.height, height)
			for _, d := range g.nodes[i].after {
				assert.Greater(t, a.x, boxes[d].column)
			}
			for _, b := range boxes[:i] {
				apart := a.x >= b.x+b.width || b.x >= a.x+a.width || a.y >= b.y+b.height || b.y >= a.y+a.height
				assert.True(t, apart, "%v and %v overlap", a, b)
			}
		}
		var b strings.Builder
		require.NoError(t, writeSVG(&b, g))
		decoder := xml.NewDecoder(strings.NewReader(b.String()))
		var texts []string
		for {
			token, err := decoder.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if data, ok := token.(xml.CharData); ok {
				texts = append(texts, string(data))
			}
		}
		for _, f := range flow.Spec.Flows {
			assert.True(t, slices.Contains(texts, f.Name), f.Name)
		}
	})
}

// visitor gives one object to what visits it.
type visitor struct{ object *unstructured.Unstructured }

func (v visitor) Visit(visit resource.VisitorFunc) error {
	return visit(&resource.Info{Object: v.object}, nil)
}

// TestOtherKinds: what isn't a JobFlow is named, not called missing.
func TestOtherKinds(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"kind": "DaemonJob", "metadata": map[string]any{"name": "x"}}}
	_, err := flowsIn(visitor{object})
	assert.EqualError(t, err, "DaemonJob/x can't be drawn: want a JobFlow of api.practice.com/v1alpha1")
}
