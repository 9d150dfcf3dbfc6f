package convert

import (
	"slices"
	"strconv"
	"strings"
)

// kubeflowKind is what is special about one of kubeflow's job kinds.
type kubeflowKind struct {
	// replicas is the field with the types of replicas.
	replicas string
	// restartPolicy is what a type has that says nothing.
	restartPolicy string
	// env are variables that its operator sets and a ReplicaJob doesn't, in its terms.
	env [][2]string
	// container and port are the names by which its operator finds the port of the leader, which is the default of portEnv.
	container, port string
	portEnv         []string
	// allWorkers: without a leader all workers must succeed, not only the first.
	allWorkers bool
	// note says what else its operator does for the pods.
	note string
}

// kubeflowKinds are the kinds of the training operator and of the MPI operator. Their defaults are those of
// https://github.com/kubeflow/training-operator/tree/v1.9.0/pkg/apis/kubeflow.org/v1.
var kubeflowKinds = map[string]kubeflowKind{
	"TFJob": {replicas: "tfReplicaSpecs", restartPolicy: "Never",
		note: "TF_CONFIG is not set: a container can make it of JOB_NAME, REPLICA_TYPE, REPLICA_INDEX and REPLICAS, or the kind TFJob of examples/tfjob sets it"},
	"PyTorchJob": {replicas: "pytorchReplicaSpecs", restartPolicy: "OnFailure", container: "pytorch", port: "pytorchjob-port", portEnv: []string{"MASTER_PORT", "PET_MASTER_PORT"}, allWorkers: true,
		env: [][2]string{{"MASTER_ADDR", "$(COORDINATOR)"}, {"MASTER_PORT", "23456"}, {"PYTHONUNBUFFERED", "1"},
			// torchrun reads these. Without them each pod trains alone.
			{"PET_MASTER_ADDR", "$(COORDINATOR)"}, {"PET_MASTER_PORT", "23456"}, {"PET_NNODES", "$(WORLD_SIZE)"}, {"PET_NODE_RANK", "$(RANK)"}}},
	"XGBoostJob": {replicas: "xgbReplicaSpecs", restartPolicy: "Never", container: "xgboost", port: "xgboostjob-port", portEnv: []string{"MASTER_PORT"},
		env:  [][2]string{{"MASTER_ADDR", "$(COORDINATOR)"}, {"MASTER_PORT", "9999"}, {"PYTHONUNBUFFERED", "1"}},
		note: "WORKER_ADDRS and WORKER_PORT are not set"},
	"PaddleJob": {replicas: "paddleReplicaSpecs", restartPolicy: "OnFailure", allWorkers: true,
		note: "the variables PADDLE_... and POD_IP_DUMMY are not set: a container can make them of COORDINATOR, RANK and WORLD_SIZE"},
	"JAXJob": {replicas: "jaxReplicaSpecs", restartPolicy: "Never", container: "jax", port: "jaxjob-port", portEnv: []string{"COORDINATOR_PORT"}, allWorkers: true,
		env: [][2]string{{"COORDINATOR_ADDRESS", "$(COORDINATOR)"}, {"COORDINATOR_PORT", "6666"}, {"NUM_PROCESSES", "$(WORLD_SIZE)"}, {"PROCESS_ID", "$(RANK)"}, {"PYTHONUNBUFFERED", "1"}}},
	"MPIJob": {replicas: "mpiReplicaSpecs", restartPolicy: "Never",
		note: "no hostfile, ssh keys or OMPI_... variables are made: a launcher reaches its workers by their names, <job>-worker-<index>.<job>; or run it on a MiniCluster"},
}

// kubeflowJob makes a ReplicaJob of a job of the training operator. What its operator puts in for fields that aren't there is
// written down, where a ReplicaJob's default is another.
func kubeflowJob(root field, kind kubeflowKind) map[string]any {
	object, spec := newObject("ReplicaJob", root)
	if kind.note != "" {
		root.source.note("kind", "%s", kind.note)
	}
	from := root.get("spec")
	kind.env = kubeflowEnv(from, kind)
	replicas := map[string]any{}
	for _, name := range from.get(kind.replicas).keys() {
		if of := from.get(kind.replicas, name); len(of.keys()) > 0 {
			replicas[name] = kubeflowReplicas(of, kind)
		}
	}
	if worker, ok := replicas["Worker"].(map[string]any); ok && kind.replicas == "mpiReplicaSpecs" {
		impliedCommand(root, worker)
	}
	if launcher, ok := replicas["Launcher"].(map[string]any); ok && replicas["Worker"] != nil {
		launcherDependsOn(from, launcher)
	}
	spec["replicaSpecs"] = replicas
	spec["runPolicy"] = kubeflowRunPolicy(from)
	switch policy := from.get("successPolicy"); policy.text() {
	case "AllWorkers":
		spec["successPolicy"] = map[string]any{"rule": "AllWorkers"}
	case "":
		if kind.allWorkers && replicas["Master"] == nil && replicas["Worker"] != nil {
			spec["successPolicy"] = map[string]any{"rule": "AllWorkers"}
		}
	default:
		policy.drop("want AllWorkers, found %v; a ReplicaJob's successPolicy has more rules", policy.value)
	}
	if _, mpi := replicas["Launcher"]; !mpi {
		spec["network"] = map[string]any{"servicePerReplica": true} // the names by which replicas knew each other
	}
	from.get("elasticPolicy").drop("kubectl scale and autoscalers change the replicas of Worker; the kind TorchJob of examples/torchjob has an elasticPolicy")
	from.get("slotsPerWorker").drop("there is no hostfile: give the slots to mpirun in the command")
	return object
}

// kubeflowEnv returns the variables of a kind with the ports and the number of processes that a job says.
func kubeflowEnv(from field, kind kubeflowKind) [][2]string {
	env := slices.Clone(kind.env)
	leader := from.get(kind.replicas, "Master").orElse(from.get(kind.replicas, "Worker"))
	for _, c := range leader.get("template", "spec", "containers").items() {
		for _, port := range c.get("ports").items() {
			if c.get("name").value != kind.container || port.get("name").value != kind.port {
				continue
			}
			for i := range env {
				if slices.Contains(kind.portEnv, env[i][0]) {
					env[i][1] = valueText(port.get("containerPort").value)
				}
			}
		}
	}
	nproc := from.get("nprocPerNode")
	if !nproc.has() {
		return env
	}
	text := valueText(nproc.take())
	env = append(env, [2]string{"PET_NPROC_PER_NODE", text})
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 1 {
		total := int64(0)
		for _, name := range from.get(kind.replicas).keys() {
			if of, ok := from.get(kind.replicas, name, "replicas").value.(int64); ok {
				total += of
			} else {
				total++
			}
		}
		for i := range env {
			if env[i][0] == "PET_NNODES" {
				env[i][1] = strconv.FormatInt(total, 10) // $(WORLD_SIZE) counts processes then
			}
		}
		env = append(env, [2]string{"WORLD_SIZE", strconv.FormatInt(n*total, 10)})
		from.source.note(nproc.path, "WORLD_SIZE and PET_NNODES are numbers for these replicas: change them when you change replicas")
	}
	return env
}

// impliedCommand gives workers of MPI that have no command the one that their operator gives them.
func impliedCommand(root field, worker map[string]any) {
	containers, _ := objectIn(objectIn(worker, "template"), "spec")["containers"].([]any)
	if len(containers) == 0 {
		return
	}
	container, ok := containers[0].(map[string]any)
	if !ok || container["command"] != nil || container["args"] != nil {
		return
	}
	if root.value.(map[string]any)["apiVersion"] == "kubeflow.org/v1" {
		container["command"], container["args"] = []any{"sleep"}, []any{"365d"}
	} else {
		container["command"] = []any{"/usr/sbin/sshd", "-De"}
	}
}

func kubeflowReplicas(from field, kind kubeflowKind) map[string]any {
	replicas := map[string]any{"restartPolicy": kind.restartPolicy}
	from.get("replicas").move(replicas, "replicas")
	if policy := from.get("restartPolicy"); policy.has() {
		policy.move(replicas, "restartPolicy")
	}
	template := from.get("template").object()
	pod := objectIn(template, "spec")
	delete(pod, "restartPolicy") // it was always overridden by the one beside the template
	containers, _ := pod["containers"].([]any)
	for _, c := range containers {
		if container, ok := c.(map[string]any); ok && len(kind.env) > 0 {
			addEnv(container, kind.env)
		}
	}
	replicas["template"] = template
	return replicas
}

// addEnv puts variables before a container's own, of which those of the same name stay.
func addEnv(container map[string]any, vars [][2]string) {
	own, _ := container["env"].([]any)
	has := map[any]bool{}
	for _, v := range own {
		if variable, ok := v.(map[string]any); ok {
			has[variable["name"]] = true
		}
	}
	var env []any
	for _, v := range vars {
		if !has[v[0]] {
			env = append(env, map[string]any{"name": v[0], "value": v[1]})
		}
	}
	container["env"] = append(env, own...)
}

// launcherDependsOn has a launcher wait for its workers, if that was asked for.
func launcherDependsOn(from field, launcher map[string]any) {
	policy := from.get("launcherCreationPolicy")
	switch policy.text() {
	case "WaitForWorkersReady":
		launcher["dependsOn"] = []any{map[string]any{"type": "Worker", "status": "Ready"}}
	case "", "AtStartup":
	default:
		policy.drop("want AtStartup or WaitForWorkersReady, found %v", policy.value)
	}
}

func kubeflowRunPolicy(from field) map[string]any {
	policy, to := from.get("runPolicy"), map[string]any{"cleanPodPolicy": "None"}
	from.get("cleanPodPolicy").move(to, "cleanPodPolicy") // where MPIJobs once had it
	if clean := policy.get("cleanPodPolicy"); clean.has() {
		clean.move(to, "cleanPodPolicy")
	}
	for _, name := range []string{"ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "suspend"} {
		policy.get(name).move(to, name)
	}
	if by := policy.get("managedBy"); strings.HasPrefix(asText(by.value), "kubeflow.org/") {
		by.take() // the operator itself, which is Armature now
	} else {
		by.drop("it names who shall run the kubeflow job; Armature runs this one")
	}
	if gang := policy.get("schedulingPolicy"); gang.has() {
		to["schedulingPolicy"] = kubeflowGang(gang)
	}
	return to
}

// kubeflowGang carries gang scheduling over. Kubeflow's operator has the scheduler in a flag, a ReplicaJob in a field.
func kubeflowGang(from field) map[string]any {
	to := map[string]any{}
	provider, why := "", ""
	switch {
	case from.get("scheduleTimeoutSeconds").has():
		provider, why = "SchedulerPlugins", "scheduleTimeoutSeconds is known to it only"
	case from.get("queue").has(), from.get("minResources").has():
		provider, why = "Volcano", "queue and minResources are known to it"
	}
	known := []string{"minAvailable", "queue", "priorityClass", "minResources"}
	if provider == "SchedulerPlugins" {
		known = []string{"minAvailable", "minResources", "scheduleTimeoutSeconds"}
	}
	for _, name := range known {
		from.get(name).move(to, name)
	}
	from.get("queue").dropUnless(known, "the provider %s doesn't know it", provider)
	from.get("priorityClass").dropUnless(known, "the provider %s doesn't know it", provider)
	if provider == "" {
		from.source.note(from.path, "the provider is who the cluster has: kubeflow's operator was told by a flag; see kubectl explain replicajob.spec.runPolicy.schedulingPolicy.provider")
		return to
	}
	to["provider"] = provider
	from.source.note(from.path, "the provider is taken to be %s, since %s: kubeflow's operator was told by a flag", provider, why)
	return to
}

// dropUnless drops a field whose name isn't among these.
func (f field) dropUnless(known []string, why string, args ...any) {
	for _, name := range known {
		if strings.HasSuffix(f.path, "."+name) {
			return
		}
	}
	f.drop(why, args...)
}

func asText(value any) string {
	text, _ := value.(string)
	return text
}
