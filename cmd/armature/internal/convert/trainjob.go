package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/api/quantity"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// runtimes are those of TrainJobs, by kind and name: what a TrainJob runs stands there.
type runtimes struct {
	docs  references[*manifest.Document]
	named map[*manifest.Document]bool // by a TrainJob
}

func runtimesIn(docs []*manifest.Document) runtimes {
	all := runtimes{references[*manifest.Document]{}, map[*manifest.Document]bool{}}
	var jobs []*manifest.Document
	for _, doc := range docs {
		gvk, namespace := doc.Object.GroupVersionKind(), doc.Object.GetNamespace()
		switch {
		case gvk.Group != trainerGroup:
		case gvk.Kind == "TrainJob":
			jobs = append(jobs, doc)
		default:
			if gvk.Kind == "ClusterTrainingRuntime" {
				namespace = ""
			}
			all.docs.add(namespace, gvk.Kind+"/"+doc.Object.GetName(), doc)
		}
	}
	for _, job := range jobs {
		if doc, ok := all.docs.find(job.Object.GetNamespace(), runtimeOf(newSource(job).root())); ok {
			all.named[doc] = true
		}
	}
	return all
}

// runtimeOf returns the kind and the name of a TrainJob's runtime.
func runtimeOf(root field) string {
	ref := root.get("spec", "runtimeRef")
	return textOr(ref.get("kind"), "ClusterTrainingRuntime") + "/" + ref.get("name").text()
}

// trainRuntime takes a runtime, which is in what is made of the TrainJobs that name it.
func trainRuntime(root field, all runtimes) {
	for _, name := range append(slices.Clone(written), "name", "namespace") {
		root.get("metadata", name).take()
	}
	root.get("metadata", "annotations", lastApplied).take()
	for _, name := range []string{"labels", "annotations"} {
		if of := root.get("metadata", name); len(of.keys()) > 0 {
			of.take()
			root.source.rename(of.path, "not carried over: they are the runtime's, not those of its jobs")
		}
	}
	root.get("spec").take()
	if !all.named[root.source.doc] {
		root.source.note("spec", "not carried over: no TrainJob among the files names it")
	}
}

const (
	trainerGroup = "trainer.kubeflow.org"
	// trainerStep is the label of the replicated job that a TrainJob's trainer is about.
	trainerStep = "trainer.kubeflow.org/trainjob-ancestor-step"
)

// trainJob makes a ReplicaJob of a TrainJob and its runtime, which is a template of a JobSet. What is put in is that of
// https://github.com/kubeflow/trainer/blob/master/pkg/runtime/framework/plugins/torch/torch.go.
func trainJob(root field, all runtimes) (map[string]any, error) {
	from, name := root.get("spec"), runtimeOf(root)
	from.get("runtimeRef", "apiGroup").take()
	doc, ok := all.docs.find(root.source.doc.Object.GetNamespace(), name)
	if !ok {
		return nil, fmt.Errorf("spec.runtimeRef: %s is in none of the files, and says what the job runs; "+
			"give it together with the job: kubectl get %s -o yaml", name, name)
	}
	object, spec := newObject("ReplicaJob", root)
	of := *doc
	of.Object = doc.Object.DeepCopy()
	src := newSource(&of)
	template := src.root().get("spec", "template")
	nodes := trainer(root, from.get("trainer"), src.root())
	jobSetSpec(template.get("spec"), spec, asText(root.get("metadata", "name").value))
	run := objectIn(spec, "runPolicy")
	from.get("suspend").move(run, "suspend")
	if len(run) == 0 {
		delete(spec, "runPolicy")
	}
	torch(src.root(), spec, nodes)
	for _, taken := range []string{"apiVersion", "kind", "metadata", "status"} {
		src.root().get(taken).take()
	}
	src.rest()
	root.source.notes = append(root.source.notes, src.notes...)
	from.get("managedBy").drop("it names who shall run the TrainJob; Armature runs this one")
	return object, nil
}

// trainedNodes are the pods that a TrainJob's trainer is about.
type trainedNodes struct {
	replicaType string
	count       int64
	processes   string
}

// trainer puts what a TrainJob says of its trainer into a runtime.
func trainer(root, from, to field) trainedNodes {
	policy := to.get("spec", "mlPolicy")
	n := trainedNodes{count: policy.get("numNodes").number(1), processes: textOr(policy.get("torch", "numProcPerNode"), "auto")}
	if from.get("numNodes").has() {
		n.count = from.get("numNodes").number(1)
	}
	if from.get("numProcPerNode").has() {
		n.processes = valueText(from.get("numProcPerNode").take())
	}
	n.processes = processesOf(n.processes, from.get("resourcesPerNode"))
	if command := from.get("command").strings(); policy.get("torch").has() && slices.Equal(command, []string{"tune", "run"}) {
		root.source.note(from.get("command").path, "torchtune's arguments (--nnodes, --rdzv_endpoint, the recipe and its --config) "+
			"aren't made: write them into args")
	}
	for _, rj := range to.get("spec", "template", "spec", "replicatedJobs").items() {
		isTrainer := rj.get("template", "metadata", "labels", trainerStep).take() == "trainer"
		if !isTrainer && rj.get("name").value != "node" {
			continue
		}
		n.replicaType = asText(rj.get("name").value)
		job := objectIn(objectIn(rj.value.(map[string]any), "template"), "spec")
		job["parallelism"], job["completions"] = n.count, n.count
		pod := objectIn(objectIn(job, "template"), "spec")
		containers, _ := pod["containers"].([]any)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			if container == nil || container["name"] != "node" && len(containers) > 1 {
				continue
			}
			for _, name := range []string{"image", "command", "args"} {
				from.get(name).move(container, name)
			}
			if resources := from.get("resourcesPerNode"); resources.has() {
				container["resources"] = resources.take()
			}
			if env, ok := from.get("env").take().([]any); ok {
				container["env"] = patched(runtime.DeepCopyJSONValue(container["env"]), env)
			}
		}
	}
	return n
}

// processesOf returns how many processes a node has: by itself as many as it has CPUs, if what it asks for has no GPU.
func processesOf(says string, resources field) string {
	if !resources.has() || says != "auto" && says != "cpu" {
		return says
	}
	of := resources.get("limits").orElse(resources.get("requests"))
	for _, name := range of.keys() {
		if says == "auto" && strings.Contains(strings.ToLower(name), "gpu") {
			return says
		}
	}
	cpus, err := quantity.Parse(valueText(of.get("cpu").value))
	if err != nil {
		return "1"
	}
	return strconv.FormatInt(max(1, cpus.Value()), 10)
}

// torch sets what torchrun reads, where the runtime says that the nodes run it.
func torch(of field, spec map[string]any, n trainedNodes) {
	policy := of.get("spec", "mlPolicy", "torch")
	replicas, _ := objectIn(spec, "replicaSpecs")[n.replicaType].(map[string]any)
	if !policy.has() || replicas == nil {
		return
	}
	policy.get("numProcPerNode").take()
	if len(policy.keys()) == 0 {
		policy.take()
	}
	port, host := "29500", "$(JOB_NAME)-"+n.replicaType+"-0.$(JOB_NAME)"
	vars := []any{env("PET_NNODES", "$(REPLICAS)"), env("PET_NPROC_PER_NODE", n.processes), env("PET_NODE_RANK", "$(REPLICA_INDEX)"),
		env("PET_MASTER_ADDR", host), env("PET_MASTER_PORT", port)}
	containers, _ := objectIn(objectIn(replicas, "template"), "spec")["containers"].([]any)
	for _, c := range containers {
		if container, ok := c.(map[string]any); ok && (container["name"] == "node" || len(containers) == 1) {
			own, _ := container["env"].([]any)
			container["env"] = patched(own, vars)
		}
	}
}
