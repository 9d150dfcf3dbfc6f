package convert

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// Systems are what can be converted from, with the API groups by which their manifests are known.
var Systems = map[string][]string{
	"volcano":  {"flow.volcano.sh"},
	"argo":     {"argoproj.io"},
	"kubeflow": {"kubeflow.org", trainerGroup},
	"jobset":   {"jobset.x-k8s.io"},
}

// Result is the outcome of the conversion of manifests.
type Result struct {
	// Objects are what was made of them, in their order.
	Objects []map[string]any
	// Notes are what could not be carried over, or not just as it was.
	Notes []Note
	// Others are those that nothing was made of, being of other kinds.
	Others []*manifest.Document
}

// otherArgo are the kinds of the API group argoproj.io that aren't of Argo Workflows, but of Argo CD, Rollouts and Events.
var otherArgo = []string{"Application", "ApplicationSet", "AppProject", "Rollout", "AnalysisTemplate", "ClusterAnalysisTemplate",
	"AnalysisRun", "Experiment", "EventBus", "EventSource", "Sensor"}

// Documents converts manifests of a system: of all that are known, if it is empty. Those that can't be converted at all are
// errors with their places, joined; the result of the others is returned all the same.
func Documents(docs []*manifest.Document, system string) (Result, error) {
	var result Result
	var errs []error
	templates, runtimes := templatesIn(docs), runtimesIn(docs)
	for _, doc := range docs {
		gvk := doc.Object.GroupVersionKind()
		if !isOf(gvk, system) {
			result.Others = append(result.Others, doc)
			continue
		}
		src := newSource(doc)
		objects, err := convert(src, gvk, templates, runtimes)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", doc.At("kind"), nameOf(doc), err))
			continue
		}
		for _, field := range doc.Repeated {
			src.notes = append(src.notes, Note{field.Place, nameOf(doc), field.Path, manifest.Twice, false})
		}
		src.rest()
		result.Objects = append(result.Objects, objects...)
		result.Notes = append(result.Notes, src.notes...)
	}
	return result, errors.Join(errs...)
}

// nameOf returns a manifest's kind and name.
func nameOf(doc *manifest.Document) string {
	return doc.Object.GetKind() + "/" + cmp.Or(doc.Object.GetName(), doc.Object.GetGenerateName())
}

func isOf(gvk schema.GroupVersionKind, system string) bool {
	if gvk.Group == "argoproj.io" && slices.Contains(otherArgo, gvk.Kind) {
		return false
	}
	for name, groups := range Systems {
		if (system == "" || system == name) && slices.Contains(groups, gvk.Group) {
			return true
		}
	}
	return false
}

func convert(src *source, gvk schema.GroupVersionKind, templates references[field], all runtimes) ([]map[string]any, error) {
	root := src.root()
	root.get("apiVersion").take()
	root.get("kind").take()
	root.get("status").take()
	switch gvk.GroupKind() {
	case schema.GroupKind{Group: "flow.volcano.sh", Kind: "JobFlow"}:
		return []map[string]any{volcanoFlow(root, templates)}, nil
	case schema.GroupKind{Group: "flow.volcano.sh", Kind: "JobTemplate"}:
		return volcanoTemplate(root), nil
	case schema.GroupKind{Group: "argoproj.io", Kind: "Workflow"}:
		return argoWorkflow(root)
	case schema.GroupKind{Group: "jobset.x-k8s.io", Kind: "JobSet"}:
		return []map[string]any{jobSet(root)}, nil
	case schema.GroupKind{Group: trainerGroup, Kind: "TrainJob"}:
		job, err := trainJob(root, all)
		return []map[string]any{job}, err
	case schema.GroupKind{Group: trainerGroup, Kind: "TrainingRuntime"}, schema.GroupKind{Group: trainerGroup, Kind: "ClusterTrainingRuntime"}:
		trainRuntime(root, all)
		return nil, nil
	}
	if kind, ok := kubeflowKinds[gvk.Kind]; ok && gvk.Group == "kubeflow.org" {
		return []map[string]any{kubeflowJob(root, kind)}, nil
	}
	return nil, fmt.Errorf("the kind (%s) can't be converted; these can: "+
		"Volcano's JobFlow and JobTemplate, Argo's Workflow, JobSet, kubeflow's TrainJob, %s",
		gvk.GroupVersion(), strings.Join(slices.Sorted(maps.Keys(kubeflowKinds)), ", "))
}

// written are the metadata that aren't the author's.
var written = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// newObject begins an object of ours with the metadata of an original.
func newObject(kind string, root field) (object, spec map[string]any) {
	from, metadata := root.get("metadata"), map[string]any{}
	for _, name := range written {
		from.get(name).take()
	}
	from.get("annotations", lastApplied).take()
	for _, name := range []string{"name", "generateName", "namespace", "labels"} {
		from.get(name).move(metadata, name)
	}
	if queue := from.get("labels", "kueue.x-k8s.io/queue-name"); queue.has() {
		root.source.note(queue.path, "Kueue doesn't know the kind %s, and lets it run at once; set spec.suspend, or limit it otherwise", kind)
	}
	annotations := map[string]any{}
	for _, key := range from.get("annotations").keys() {
		if key != lastApplied {
			from.get("annotations", key).move(annotations, key)
		}
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	spec = map[string]any{}
	return map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": spec}, spec
}
