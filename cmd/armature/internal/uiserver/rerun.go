package uiserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
	"github.com/armature-dev/armature/internal/wellknown"
)

// LabelRerunOf is the label of a flow that runs a part of another one again, and names that one.
const LabelRerunOf = "api.practice.com/rerun-of"

// rerun creates a flow that runs a node of another one, and all that depends on it, again.
func (v *Viewer) rerun(ctx context.Context, obj *unstructured.Unstructured, node string) (done, error) {
	flow := &v1alpha1.JobFlow{}
	if obj.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("JobFlow") {
		return done{}, badRequest("rerun is for a JobFlow, got " + obj.GetKind())
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, flow); err != nil {
		return done{}, err
	}
	again, err := from(flow, node)
	if err != nil {
		return done{}, err
	}
	if err := v.cluster.Client.Create(ctx, again, client.FieldOwner(wellknown.FieldOwner)); err != nil {
		return done{}, err
	}
	return done{
		Changed: true, Message: fmt.Sprintf("created JobFlow %s with %d nodes", again.Name, len(again.Spec.Flows)),
		Created: &named{again.Namespace, again.Name},
	}, nil
}

// from returns a flow with a node of another one, all that depends on it, and finally. It omits dependencies on other nodes, because
// those have succeeded or may fail; it refuses the rerun otherwise. A node that needs the output of such a node gets it as a variable, if
// the status still has it; an expression that names such a node can't be carried over.
func from(flow *v1alpha1.JobFlow, node string) (*v1alpha1.JobFlow, error) {
	refuse := func(format string, args ...any) error {
		return &refusal{http.StatusUnprocessableEntity, "Refused", fmt.Sprintf(format, args...)}
	}
	kept := behindOf(flow.Spec.Flows, node)
	if kept == nil {
		return nil, refuse("JobFlow %s has no node %q to run again from", flow.Name, node)
	}
	if err := checkOmitted(flow, kept, refuse); err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	for _, o := range flow.Status.Outputs {
		if o.Lost == "" {
			outputs[o.Name] = o.Value
		}
	}
	again := &v1alpha1.JobFlow{}
	again.Namespace, again.GenerateName = flow.Namespace, prefixOf(flow.Name)+"-rerun-"
	again.Labels = map[string]string{}
	maps.Copy(again.Labels, flow.Labels)
	again.Labels[LabelRerunOf] = labelValue(flow.Name)
	again.Spec = *flow.Spec.DeepCopy()
	again.Spec.Suspend, again.Spec.Terminate, again.Spec.Retry, again.Spec.Flows = false, false, 0, nil
	for i := range flow.Spec.Flows {
		if kept[flow.Spec.Flows[i].Name] {
			again.Spec.Flows = append(again.Spec.Flows, *flow.Spec.Flows[i].DeepCopy())
		}
	}
	if again.Spec.SuccessWhen != "" && len(again.Spec.Flows) < len(flow.Spec.Flows) {
		return nil, refuse("spec.successWhen is about nodes that don't run again: %s", again.Spec.SuccessWhen)
	}
	for i := range again.Spec.Finally {
		f := &again.Spec.Finally[i]
		if readsJobs.MatchString(f.When) && len(again.Spec.Flows) < len(flow.Spec.Flows) {
			return nil, refuse("node %s in finally has a when that reads nodes, and some don't run again: %s", f.Name, f.When)
		}
	}
	for _, nodes := range [][]v1alpha1.Flow{again.Spec.Flows, again.Spec.Finally} {
		for i := range nodes {
			if err := cutLoose(&nodes[i], kept, outputs, refuse); err != nil {
				return nil, err
			}
		}
	}
	return again, nil
}

// readsJobs finds the variable jobs in a when. In finally it has all nodes, so that even an expression that names none of those that are
// left out can have another value without them. A text with that word matches, too: it is refused rather than parsed.
var readsJobs = regexp.MustCompile(`\bjobs\b`)

// behindOf returns a node and all that depend on it; nil if there is no such node.
func behindOf(flows []v1alpha1.Flow, node string) map[string]bool {
	behind := map[string][]string{}
	found := false
	for i := range flows {
		found = found || flows[i].Name == node
		for _, d := range flows[i].Dependencies {
			behind[d] = append(behind[d], flows[i].Name)
		}
	}
	if !found {
		return nil
	}
	kept := map[string]bool{node: true}
	for queue := []string{node}; len(queue) > 0; queue = queue[1:] {
		for _, name := range behind[queue[0]] {
			if !kept[name] {
				kept[name] = true
				queue = append(queue, name)
			}
		}
	}
	return kept
}

// checkOmitted refuses a rerun in which a node would run although a dependency that doesn't run again keeps it from running: it failed, was
// skipped or hasn't ended.
func checkOmitted(flow *v1alpha1.JobFlow, kept map[string]bool, refuse func(string, ...any) error) error {
	states := map[string]v1alpha1.FlowState{}
	for _, s := range flowstate.Of(flow) {
		states[s.Name] = s.State
	}
	mayFail := map[string]bool{}
	for i := range flow.Spec.Flows {
		mayFail[flow.Spec.Flows[i].Name] = flow.Spec.Flows[i].AllowFailure
	}
	for i := range flow.Spec.Flows {
		f := &flow.Spec.Flows[i]
		if !kept[f.Name] {
			continue
		}
		for _, d := range f.Dependencies {
			state := states[d]
			if kept[d] || state == v1alpha1.FlowSucceed || state == v1alpha1.FlowFailed && mayFail[d] {
				continue
			}
			return refuse("node %s depends on %s, which doesn't run again and is %s: run again from %[2]s", f.Name, d, cmp.Or(state, "unknown"))
		}
	}
	return nil
}

// cutLoose takes out of a node what refers to nodes that don't run again.
func cutLoose(f *v1alpha1.Flow, kept map[string]bool, outputs map[string]string, refuse func(string, ...any) error) error {
	before := len(f.Dependencies)
	f.Dependencies = slices.DeleteFunc(f.Dependencies, func(d string) bool { return !kept[d] })
	if f.When != "" && len(f.Dependencies) < before {
		return refuse("node %s has a when, and depends on nodes that don't run again: %s", f.Name, f.When)
	}
	if f.ForEach != nil && f.ForEach.FromOutput != "" && !kept[f.ForEach.FromOutput] {
		return refuse("node %s has its items from the output of %s, which doesn't run again", f.Name, f.ForEach.FromOutput)
	}
	var inputs []v1alpha1.Input
	var env []corev1.EnvVar
	for _, in := range f.Inputs {
		if kept[in.From] {
			inputs = append(inputs, in)
			continue
		}
		value, known := outputs[in.From]
		if !known {
			return refuse("node %s needs the output of %s, which doesn't run again, and whose output isn't recorded any more", f.Name, in.From)
		}
		if f.JobTemplate == nil {
			return refuse("node %s needs the output of %s, and has its Job from a JobTemplate: it can't be given a value", f.Name, in.From)
		}
		env = append(env, corev1.EnvVar{Name: in.Env, Value: strings.ReplaceAll(value, "$", "$$")}) // Kubernetes replaces $(NAME) in a value
	}
	f.Inputs = inputs
	if len(env) > 0 {
		setEnv(&f.JobTemplate.Template.Spec, env)
	}
	return nil
}

// setEnv gives each container variables as the operator gives inputs: not if the container has one of that name, and before the
// container's own variables, whose values can refer to them.
func setEnv(pod *corev1.PodSpec, env []corev1.EnvVar) {
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			c := &containers[i]
			missing := slices.DeleteFunc(slices.Clone(env), func(e corev1.EnvVar) bool {
				return slices.ContainsFunc(c.Env, func(own corev1.EnvVar) bool { return own.Name == e.Name })
			})
			c.Env = append(missing, c.Env...)
		}
	}
}

// maxPrefix limits the part of a flow's name in the name of its rerun, so that the names of its Jobs stay within their limit.
const maxPrefix = 40

func prefixOf(name string) string {
	if len(name) <= maxPrefix {
		return name
	}
	return name[:maxPrefix]
}
