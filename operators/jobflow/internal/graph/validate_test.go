package graph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
)

func TestValidate(t *testing.T) {
	both := node("both")
	both.JobTemplateRef = "t"
	mounting := func(n v1alpha1.Flow, names ...string) v1alpha1.Flow {
		n.ShareVolumeMounts = mounts(names...)
		return n
	}
	ownVolume := mounting(node("own"), "mine")
	ownVolume.JobTemplate.Template.Spec.Volumes = volumes("mine")

	tests := map[string]struct {
		flow *v1alpha1.JobFlow
		want []string
	}{
		"the seed's example":    {seedGraph(), nil},
		"references":            {makeFlow(nodeRef("a", "t"), nodeRef("b", "t", "a")), nil},
		"a volume of one's own": {makeFlow(ownVolume), nil},
		"a mount that the referred template may have": {makeFlow(mounting(nodeRef("a", "t"), "x")), nil},

		"no flows": {makeFlow(), []string{`spec.flows: Required value: at least one flow is needed`}},
		"duplicate name": {makeFlow(node("a"), node("b"), node("a")),
			[]string{`flow "a": spec.flows[2].name: Duplicate value: "a"`}},
		"unknown dependency": {makeFlow(node("a"), node("b", "a", "x")),
			[]string{`flow "b": spec.flows[1].dependencies[1]: Not found: "x"`}},
		"self dependency": {makeFlow(node("a", "a")),
			[]string{`flow "a": spec.flows[0].dependencies[0]: Invalid value: "a": a flow can't depend on itself`}},
		"dependency given twice": {makeFlow(node("a"), node("b", "a", "a")),
			[]string{`flow "b": spec.flows[1].dependencies[1]: Duplicate value: "a"`}},
		"cycle": {makeFlow(node("x"), node("a", "b"), node("b", "x", "a"), node("after", "b")),
			[]string{`flow "a": spec.flows[1].dependencies: Invalid value: "a -> b -> a": the dependencies form a cycle`}},
		"neither template": {makeFlow(v1alpha1.Flow{Name: "a"}),
			[]string{`flow "a": spec.flows[0].jobTemplate: Required value: one of jobTemplate and jobTemplateRef must be set`}},
		"both templates": {makeFlow(both),
			[]string{`flow "both": spec.flows[0].jobTemplateRef: Forbidden: only one of jobTemplate and jobTemplateRef may be set`}},
		"mount of no volume": {makeFlow(mounting(node("a"), "x")),
			[]string{`flow "a": spec.flows[0].shareVolumeMounts[0].name: Not found: "x"`}},
		"bad name": {makeFlow(node("Job_1")),
			[]string{`flow "Job_1": spec.flows[0].name: Invalid value: "Job_1": a lowercase RFC 1123 label must consist of`}},
		"long name": {makeFlow(node(strings.Repeat("x", 64))),
			[]string{`flow "` + strings.Repeat("x", 64) + `": spec.flows[0].name: Invalid value: "` + strings.Repeat("x", 64) + `": must be no more than 63`}},
		"all at once": {makeFlow(node("a", "x"), v1alpha1.Flow{Name: "b"}, node("c", "c")), []string{
			`flow "a": spec.flows[0].dependencies[0]: Not found: "x"`,
			`flow "b": spec.flows[1].jobTemplate: Required value`,
			`flow "c": spec.flows[2].dependencies[0]: Invalid value: "c"`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			problems := Compile(t.Context(), tt.flow, 0).Problems
			if assert.Len(t, problems, len(tt.want), "%v", problems) {
				for i, want := range tt.want {
					assert.Truef(t, strings.HasPrefix(problems[i].String(), want), "got  %s\nwant %s", problems[i], want)
				}
			}
		})
	}
}

func TestValidateGlobals(t *testing.T) {
	flow := makeFlow(node("a"))
	flow.Spec.GlobalParams = v1alpha1.GlobalParams{
		NodeName:    "Mini kube",
		Labels:      map[string]string{"ok": "no spaces please"},
		Annotations: map[string]string{"no spaces please": "ok"},
	}
	text := message.List(Compile(t.Context(), flow, 0).Problems, Problem.String)
	for _, field := range []string{"spec.globalParams.labels: ", "spec.globalParams.annotations: ", "spec.globalParams.nodeName: "} {
		assert.Contains(t, text, field)
	}
}

func TestValidateNamesThatSpellAHash(t *testing.T) {
	flow := makeFlow()
	flow.Name = strings.Repeat("f", 20)
	long := strings.Repeat("n", 60)
	short := strings.TrimPrefix(JobName(flow.Name, long, 0), flow.Name+"-")
	flow.Spec.Flows = []v1alpha1.Flow{node(long), node(short)}
	problems := Compile(t.Context(), flow, 0).Problems
	if assert.Len(t, problems, 1) {
		assert.Contains(t, problems[0].String(), "another flow's Job is called "+JobName(flow.Name, long, 0)+" too")
	}
}

func TestDescribeLongCycles(t *testing.T) {
	flow := makeFlow()
	for i := range 30 {
		next := string(rune('a'+(i+1)%30%26)) + strings.Repeat("x", (i+1)%30/26)
		flow.Spec.Flows = append(flow.Spec.Flows, node(string(rune('a'+i%26))+strings.Repeat("x", i/26), next))
	}
	problems := Compile(t.Context(), flow, 0).Problems
	if assert.Len(t, problems, 1) {
		assert.Contains(t, problems[0].String(), `"a -> b -> c -> d -> e -> f -> g -> h -> i -> j -> (20 more) -> a"`)
	}
}
