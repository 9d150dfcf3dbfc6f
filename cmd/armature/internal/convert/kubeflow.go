package convert

import (
	"strings"
)

// kubeflowKind is what is special about one of kubeflow's job kinds.
type kubeflowKind struct {
	// replicas is the field with the types of replicas.
	replicas string
	// restartPolicy is what a type has that says nothing.
	restartPolicy string
	// env returns the variables that its operator sets in the containers of a type. Nil: none.
	env func(j trainingJob, replicaType string) []variable
	// container and port are the names by which its operator finds a port, which is else the default.
	container, port, defaultPort string
	// oneContainer: only that container gets the variables.
	oneContainer bool
	// allWorkers: without a leader all workers must succeed, not only the first.
	allWorkers bool
	// note says what else its operator does for the pods.
	note string
}

// kubeflowKinds are the kinds of the training operator and of the MPI operator. Their defaults are those of
// https://github.com/kubeflow/training-operator/tree/v1.9.0/pkg/apis/kubeflow.org/v1;
// those of a v2beta1 MPIJob's launcher are in launcherRestarts.
var kubeflowKinds = map[string]kubeflowKind{
	"TFJob": {replicas: "tfReplicaSpecs", restartPolicy: "Never", env: tensorflowEnv,
		container: "tensorflow", port: "tfjob-port", defaultPort: "2222", oneContainer: true},
	"PyTorchJob": {replicas: "pytorchReplicaSpecs", restartPolicy: "OnFailure", env: pytorchEnv,
		container: "pytorch", port: "pytorchjob-port", defaultPort: "23456", allWorkers: true},
	"XGBoostJob": {replicas: "xgbReplicaSpecs", restartPolicy: "Never", env: xgboostEnv,
		container: "xgboost", port: "xgboostjob-port", defaultPort: "9999"},
	"PaddleJob": {replicas: "paddleReplicaSpecs", restartPolicy: "OnFailure", env: paddleEnv,
		container: "paddle", port: "master", defaultPort: "36543", allWorkers: true},
	"JAXJob": {replicas: "jaxReplicaSpecs", restartPolicy: "Never", env: jaxEnv,
		container: "jax", port: "jaxjob-port", defaultPort: "6666", allWorkers: true},
	"MPIJob": {replicas: "mpiReplicaSpecs", restartPolicy: "Never",
		note: "no hostfile, ssh keys or OMPI_... variables are made: " +
			"a launcher reaches its workers by their names, <job>-worker-<index>.<job>; or run it on a MiniCluster"},
}

// kubeflowJob makes a ReplicaJob of a job of the training operator. What its operator puts in for fields that aren't there is
// written down, where a ReplicaJob's default is another.
func kubeflowJob(root field, kind kubeflowKind) map[string]any {
	object, spec := newObject("ReplicaJob", root)
	if kind.note != "" {
		root.source.note("kind", "%s", kind.note)
	}
	from := root.get("spec")
	job, replicas := newTrainingJob(from, kind), map[string]any{}
	isMPI := kind.replicas == "mpiReplicaSpecs"
	for _, name := range sortedKeys(job.replicas) {
		replicas[name] = job.replicasOf(name)
	}
	if worker, ok := replicas["Worker"].(map[string]any); ok && isMPI {
		impliedCommand(root, worker)
	}
	if launcher, ok := replicas["Launcher"].(map[string]any); ok && replicas["Worker"] != nil {
		launcherDependsOn(from, launcher)
	}
	if kind.replicas == "pytorchReplicaSpecs" {
		workersAfterMaster(from, replicas)
	}
	spec["replicaSpecs"] = replicas
	run := kubeflowRunPolicy(from)
	if launcher, ok := replicas["Launcher"].(map[string]any); ok && isMPI && !isV1(root) {
		launcherRestarts(job.places["Launcher"], launcher, run)
		noteWorkerRestarts(from, replicas, run)
	}
	spec["runPolicy"] = run
	kubeflowSuccess(from, kind, spec, job)
	if _, mpi := replicas["Launcher"]; !mpi {
		spec["network"] = map[string]any{"servicePerReplica": true} // the names by which replicas knew each other
	}
	if kind.replicas != "pytorchReplicaSpecs" {
		from.get("elasticPolicy").drop("kubectl scale and autoscalers change the replicas of Worker")
	}
	from.get("slotsPerWorker").drop("there is no hostfile: give the slots to mpirun in the command")
	return object
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
	if isV1(root) {
		container["command"], container["args"] = []any{"sleep"}, []any{"365d"}
	} else {
		container["command"] = []any{"/usr/sbin/sshd", "-De"}
	}
}

// isV1 reports whether a job is one of the training operator, not of the MPI operator.
func isV1(root field) bool { return root.get("apiVersion").value == "kubeflow.org/v1" }

// launcherRestarts sets the defaults of the MPI operator, which runs the launcher as a Job: its container restarts in place, as often
// as a Job's default backoffLimit allows.
func launcherRestarts(from field, launcher, run map[string]any) {
	if !from.get("restartPolicy").has() {
		launcher["restartPolicy"] = "OnFailure"
	}
	if _, ok := run["backoffLimit"]; !ok && launcher["restartPolicy"] == "OnFailure" {
		run["backoffLimit"] = int64(6)
	}
}

// noteWorkerRestarts notes that the backoffLimit counts the restarts of workers, too: the MPI operator gives it to the launcher's Job only.
// Workers with restartPolicy Never have no restarts.
func noteWorkerRestarts(from field, replicas, run map[string]any) {
	worker, ok := replicas["Worker"].(map[string]any)
	if limit := run["backoffLimit"]; ok && limit != nil && worker["restartPolicy"] != "Never" {
		from.source.note(from.get("runPolicy", "backoffLimit").path,
			"runPolicy.backoffLimit counts the restarts of all replicas, up to %v; there it was the limit of the launcher alone", limit)
	}
}

// replicasOf makes the replicas of a type.
func (j trainingJob) replicasOf(name string) map[string]any {
	from, replicas := j.places[name], map[string]any{"restartPolicy": j.kind.restartPolicy}
	from.get("replicas").move(replicas, "replicas")
	if policy := from.get("restartPolicy"); policy.has() {
		policy.move(replicas, "restartPolicy")
	}
	template := from.get("template").object()
	pod := objectIn(template, "spec")
	delete(pod, "restartPolicy") // it was always overridden by the one beside the template
	replicas["template"] = template
	if j.kind.env == nil {
		return replicas
	}
	vars := j.kind.env(j, name)
	containers, _ := pod["containers"].([]any)
	for i, at := range from.get("template", "spec", "containers").items() {
		if container, ok := containers[i].(map[string]any); ok && (!j.kind.oneContainer || container["name"] == j.kind.container) {
			j.setEnv(container, vars, at)
		}
	}
	return replicas
}

// kubeflowSuccess says who decides on success. A successPolicy is TFJob's only, and counts where there is no leader.
func kubeflowSuccess(from field, kind kubeflowKind, spec map[string]any, job trainingJob) {
	policy := from.get("successPolicy")
	allWorkers := kind.allWorkers
	switch policy.text() {
	case "AllWorkers":
		allWorkers = true
	case "":
	default:
		policy.drop("want AllWorkers, found %v; a ReplicaJob's successPolicy has more rules", policy.value)
	}
	if allWorkers && job.has("Worker") && !job.has("Master") && !job.has("Chief") {
		spec["successPolicy"] = map[string]any{"rule": "AllWorkers"}
	}
}

// workersAfterMaster has the workers of a PyTorchJob wait for their master, as an init container has there.
func workersAfterMaster(from field, replicas map[string]any) {
	worker, ok := replicas["Worker"].(map[string]any)
	if !ok || replicas["Master"] == nil {
		return
	}
	if gang := from.get("runPolicy", "schedulingPolicy"); gang.has() {
		from.source.note(gang.path, "the workers start beside the Master; there an init container had them wait until it was ready")
		return
	}
	worker["dependsOn"] = []any{map[string]any{"type": "Master", "status": "Ready"}}
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
		from.source.note(from.path, "the provider is the one that the cluster has: kubeflow's operator took it from a flag; "+
			"see kubectl explain replicajob.spec.runPolicy.schedulingPolicy.provider")
		return to
	}
	to["provider"] = provider
	from.source.note(from.path, "the provider is assumed to be %s, since %s: kubeflow's operator took it from a flag", provider, why)
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
