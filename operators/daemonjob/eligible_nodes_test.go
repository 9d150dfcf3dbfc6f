package daemonjob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

func requireNode(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}
}

func has(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func TestRules(t *testing.T) {
	const (
		meant   = "can take a pod"
		outside = "isn't meant"
	)
	tolerate := func(tolerations ...corev1.Toleration) func(*spec) {
		return func(s *spec) { s.Template.Spec.Tolerations = tolerations }
	}
	affinity := func(terms ...corev1.NodeSelectorTerm) func(*spec) {
		return func(s *spec) { s.Template.Spec.Affinity = requireNode(terms...) }
	}
	expressions := func(r ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: r}
	}
	excludeSelector := func(selector metav1.LabelSelector) func(*spec) {
		return func(s *spec) { s.ExcludeNodeSelector = &selector }
	}
	likeDaemonSet := func(s *spec) { s.TolerateLikeDaemonSet = true }
	tests := map[string]struct {
		spec func(*spec)
		node func(*corev1.Node)
		want string
	}{
		"any node":                 {nil, nil, meant},
		"excluded":                 {func(s *spec) { s.ExcludeNodeList = "other, n1" }, nil, outside},
		"excluded, with blanks":    {func(s *spec) { s.ExcludeNodeList = " \n n1 ,,\t" }, nil, outside},
		"others excluded":          {func(s *spec) { s.ExcludeNodeList = "n11, n, unknown.example.org" }, nil, meant},
		"excluded by label":        {excludeSelector(metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}), labelled("disk", "ssd"), outside},
		"others excluded by label": {excludeSelector(metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}), labelled("disk", "hdd"), meant},
		"excluded by expression":   {excludeSelector(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "disk", Operator: "DoesNotExist"}}}), nil, outside},
		"selected":                 {func(s *spec) { s.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} }, labelled("disk", "ssd"), meant},
		"not selected":             {func(s *spec) { s.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} }, nil, outside},
		"affine":                   {affinity(expressions(has("disk", "hdd", "ssd"))), labelled("disk", "ssd"), meant},
		"not affine":               {affinity(expressions(has("disk", "hdd"))), labelled("disk", "ssd"), outside},
		"one of two terms":         {affinity(expressions(has("disk", "hdd")), expressions(has("disk", "ssd"))), labelled("disk", "ssd"), meant},
		"both of one term":         {affinity(expressions(has("disk", "ssd"), has("gpu", "yes"))), labelled("disk", "ssd"), outside},
		"an empty term":            {affinity(corev1.NodeSelectorTerm{}), nil, outside},
		"affine by name":           {affinity(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{has("metadata.name", "n1")}}), nil, meant},
		"selected, but not affine": {func(s *spec) {
			affinity(expressions(has("a", "b")))(s)
			s.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		}, labelled("disk", "ssd"), outside},
		"a preference is no rule": {func(s *spec) {
			s.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: expressions(has("a", "b"))}}}}
		}, nil, meant},
		"the template's nodeName":    {func(s *spec) { s.Template.Spec.NodeName = "n1" }, nil, meant},
		"another nodeName":           {func(s *spec) { s.Template.Spec.NodeName = "n2" }, nil, outside},
		"the globals' nodeName":      {func(s *spec) { s.GlobalParams.NodeName = "n1" }, nil, meant},
		"another one":                {func(s *spec) { s.GlobalParams.NodeName = "n2" }, nil, outside},
		"about to go":                {nil, func(n *corev1.Node) { n.DeletionTimestamp = new(at(1)) }, outside},
		"cordoned":                   {nil, cordoned, "is cordoned"},
		"cordoned, and tainted so":   {nil, func(n *corev1.Node) { cordoned(n); tainted("node.kubernetes.io/unschedulable", "NoSchedule")(n) }, "is cordoned"},
		"cordoned, and tolerated":    {likeDaemonSet, func(n *corev1.Node) { cordoned(n); tainted("node.kubernetes.io/unschedulable", "NoSchedule")(n) }, meant},
		"not ready":                  {nil, tainted("node.kubernetes.io/not-ready", "NoSchedule"), "has the taint node.kubernetes.io/not-ready=v:NoSchedule, which isn't tolerated"},
		"not ready for a DaemonSet":  {likeDaemonSet, tainted("node.kubernetes.io/not-ready", "NoExecute"), meant},
		"short of memory":            {nil, tainted("node.kubernetes.io/memory-pressure", "NoSchedule"), "has the taint node.kubernetes.io/memory-pressure=v:NoSchedule, which isn't tolerated"},
		"short of memory, tolerated": {likeDaemonSet, tainted("node.kubernetes.io/memory-pressure", "NoSchedule"), meant},
		"no network":                 {likeDaemonSet, tainted("node.kubernetes.io/network-unavailable", "NoSchedule"), "has the taint node.kubernetes.io/network-unavailable=v:NoSchedule, which isn't tolerated"},
		"the host's network":         {func(s *spec) { likeDaemonSet(s); s.Template.Spec.HostNetwork = true }, tainted("node.kubernetes.io/network-unavailable", "NoSchedule"), meant},
		"NoExecute":                  {nil, tainted("k", "NoExecute"), "has the taint k=v:NoExecute, which isn't tolerated"},
		"PreferNoSchedule":           {nil, tainted("k", "PreferNoSchedule"), meant},
		"tolerated":                  {tolerate(corev1.Toleration{Key: "k", Value: "v", Effect: "NoSchedule"}), tainted("k", "NoSchedule"), meant},
		"tolerated whatever it is":   {tolerate(corev1.Toleration{Operator: "Exists"}), func(n *corev1.Node) { cordoned(n); tainted("k", "NoExecute")(n) }, meant},
		"another value":              {tolerate(corev1.Toleration{Key: "k", Value: "w"}), tainted("k", "NoSchedule"), "has the taint k=v:NoSchedule, which isn't tolerated"},
		"another role":               {nil, tainted("node-role.kubernetes.io/control-plane", "NoSchedule"), outside},
		"another role, tolerated":    {tolerate(corev1.Toleration{Key: "node-role.kubernetes.io/control-plane", Operator: "Exists"}), tainted("node-role.kubernetes.io/control-plane", "NoSchedule"), meant},
		"a role that is preferred":   {nil, tainted("node-role.kubernetes.io/control-plane", "PreferNoSchedule"), meant},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job, node := makeJob(), makeNode("n1")
			if tt.spec != nil {
				tt.spec(&job.Spec)
			}
			if tt.node != nil {
				tt.node(node)
			}
			r, problems := eligibleNodes(job, &render(job).Spec.Template.Spec)
			assert.Empty(t, problems)
			got := meant
			if why := r.blocker(node); !r.matches(node) {
				got = outside
			} else if why != "" {
				got = why
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestProblems(t *testing.T) {
	tests := map[string]struct {
		change func(*spec)
		want   string
	}{
		"labels":      {func(s *spec) { s.GlobalParams.Labels = map[string]string{"a b": "c"} }, `spec.globalParams.labels: Invalid value: "a b"`},
		"annotations": {func(s *spec) { s.GlobalParams.Annotations = map[string]string{"a b": "c"} }, `spec.globalParams.annotations: Invalid value: "a b"`},
		"a list":      {func(s *spec) { s.ExcludeNodeList = "n1, Node_2" }, `spec.excludeNodeList: Invalid value: "Node_2": not the name of a node: `},
		"a selector": {func(s *spec) {
			s.ExcludeNodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}
		}, `spec.excludeNodeSelector: Invalid value: `},
		"none at once":     {func(s *spec) { s.Parallelism = new(intstr.FromInt32(0)) }, `spec.parallelism: Invalid value: "0": must be a number of nodes, at least 1, or a percentage from 1% to 100%`},
		"less than none":   {func(s *spec) { s.Parallelism = new(intstr.FromString("-1%")) }, `spec.parallelism: Invalid value: "-1%"`},
		"more than all":    {func(s *spec) { s.MaxFailures = new(intstr.FromString("101%")) }, `spec.maxFailures: Invalid value: "101%"`},
		"not a percentage": {func(s *spec) { s.MaxFailures = new(intstr.FromString("ten")) }, `spec.maxFailures: Invalid value: "ten"`},
		"many terms": {
			func(s *spec) {
				s.Template.Spec.Tolerations = slices.Repeat([]corev1.Toleration{{Key: "a"}}, 300)
				s.Template.Spec.NodeSelector = map[string]string{"a": "b"}
				s.ExcludeNodeSelector = &metav1.LabelSelector{
					MatchExpressions: slices.Repeat([]metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists"}}, 100)}
				term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{has("a", "b")}}
				s.Template.Spec.Affinity = requireNode(slices.Repeat([]corev1.NodeSelectorTerm{term}, 300)...)
			},
			"spec.template.spec: Forbidden: nodes are matched with 1001 tolerations, terms and requirements, also of excludeNodeSelector, " +
				"more than 1000",
		},
		"many values": {
			func(s *spec) {
				s.ExcludeNodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "a", Operator: "In", Values: slices.Repeat([]string{"b"}, 2000)}}}
				s.Template.Spec.Affinity = requireNode(corev1.NodeSelectorTerm{
					MatchExpressions: []corev1.NodeSelectorRequirement{has("a", slices.Repeat([]string{"b"}, 3001)...)}})
			},
			"spec.template.spec: Forbidden: nodes are matched with 5001 values of requirements, also of excludeNodeSelector, more than 5000",
		},
		"an affinity": {
			func(s *spec) {
				s.Template.Spec.Affinity = requireNode(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: "Is"}}})
			},
			`spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution: Invalid value: nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Is"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := makeJob(tt.change)
			_, problems := eligibleNodes(job, &render(job).Spec.Template.Spec)
			if assert.Len(t, problems, 1) {
				assert.Contains(t, problems[0].Error(), tt.want)
			}
			plan := Plan(job, buildertest.WithWatched(buildertest.NewView(epoch), makeNode("n1"), makeNode("n2")))
			assert.Equal(t, "InvalidSpec", meta.FindStatusCondition(plan.Status.Status.Conditions, "Ready").Reason)
			assert.Empty(t, plan.Children)
		})
	}
}

// A job that an earlier version accepted costs no time for each node, and keeps the Jobs that it has.
func TestARunningJobWithTooManyTerms(t *testing.T) {
	job := makeJob(func(s *spec) {
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{has("a", "b")}}
		s.Template.Spec.Affinity = requireNode(slices.Repeat([]corev1.NodeSelectorTerm{term}, 26_000)...)
	})
	var nodes []client.Object
	for i := range 5000 {
		nodes = append(nodes, makeNode(fmt.Sprintf("n%d", i)))
	}
	owned := onNode(render(job), job, nodes[1].(*corev1.Node))
	view := buildertest.WithWatched(buildertest.NewView(epoch, owned), nodes...)
	plan := Plan(job, view) // takes half a minute if it compares each node
	assert.Equal(t, "InvalidSpec", meta.FindStatusCondition(plan.Status.Status.Conditions, "Ready").Reason)
	assert.Empty(t, plan.Children)
	assert.Empty(t, plan.Delete)
	assert.Empty(t, plan.Prune)
	assert.Nil(t, plan.Status.Status.CompletionTime)
}

func TestNodeChanged(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Node)
		want   bool
	}{
		"nothing": {func(*corev1.Node) {}, false},
		"a heartbeat": {func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{LastHeartbeatTime: metav1.NewTime(time.Now())}}
		}, false},
		"an image":    {func(n *corev1.Node) { n.Status.Images = []corev1.ContainerImage{{}} }, false},
		"a note":      {func(n *corev1.Node) { n.Annotations = map[string]string{"a": "b"} }, false},
		"a label":     {labelled("a", "b"), true},
		"a cordon":    {cordoned, true},
		"a taint":     {tainted("a", "NoSchedule"), true},
		"made anew":   {func(n *corev1.Node) { n.UID = "another" }, true},
		"about to go": {func(n *corev1.Node) { n.DeletionTimestamp = new(at(1)) }, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := makeNode("n1"), makeNode("n1")
			tt.change(after)
			assert.Equal(t, tt.want, nodeChanged(before, after))
			assert.Equal(t, tt.want, nodeChanged(after, before))
		})
	}
	created, _ := jobsOfNode(nil, &corev1.Node{})
	assert.True(t, created)
	deleted, _ := jobsOfNode(&corev1.Node{}, nil)
	assert.True(t, deleted)
}
