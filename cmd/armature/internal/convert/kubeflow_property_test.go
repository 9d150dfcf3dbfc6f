package convert

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/replicajob"
)

var (
	testTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	inValue  = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)
)

// podsOf returns the pods that a ReplicaJob has, by name, and the job as it is then.
func podsOf(t require.TestingT, job *v1alpha1.ReplicaJob) (*v1alpha1.ReplicaJob, map[string]*corev1.Pod) {
	job = job.DeepCopy()
	for name, spec := range job.Spec.ReplicaSpecs { // order is looked at by itself
		spec.DependsOn = nil
		job.Spec.ReplicaSpecs[name] = spec
	}
	job.Spec.RunPolicy.Suspend, job.Spec.RunPolicy.SchedulingPolicy = false, nil
	pods := map[string]*corev1.Pod{}
	for range 3 {
		plan := replicajob.ReplicaJobs.Plan(job, buildertest.NewView(testTime, objects(pods)...))
		if plan.Status != nil {
			job = plan.Status
		}
		for _, child := range plan.Children {
			if pod, ok := child.Object().(*corev1.Pod); ok {
				pods[pod.Name] = pod
			}
		}
	}
	require.NotEmpty(t, pods)
	return job, pods
}

func objects(pods map[string]*corev1.Pod) []client.Object {
	var all []client.Object
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		all = append(all, pods[name])
	}
	return all
}

// environment is what a container sees, as the kubelet makes it: the last of a name counts.
func environment(vars []corev1.EnvVar) map[string]string {
	seen := map[string]string{}
	for _, v := range vars {
		seen[v.Name] = inValue.ReplaceAllStringFunc(v.Value, func(found string) string {
			if value, ok := seen[inValue.FindStringSubmatch(found)[1]]; ok {
				return value
			}
			return found
		})
		if v.ValueFrom != nil {
			seen[v.Name] = "its address"
		}
	}
	return seen
}

// succeedsWith reports whether a job has succeeded once these pods have.
func succeedsWith(t require.TestingT, job *v1alpha1.ReplicaJob, succeeded func(pod string) bool) bool {
	job, pods := podsOf(t, job)
	for name, pod := range pods {
		pod.Status.Phase = corev1.PodRunning
		if succeeded(name) {
			pod.Status.Phase = corev1.PodSucceeded
		}
	}
	plan := replicajob.ReplicaJobs.Plan(job, buildertest.NewView(testTime, objects(pods)...))
	return plan.Status != nil && plan.Status.Status.State == v1alpha1.ReplicaJobSucceeded
}

// generatedJob is a job that is generated.
type generatedJob struct {
	kind, field, container, portName string
	port                             string
	replicas                         map[string]int
	nproc                            string
	elastic                          map[string]any
	own                              map[string]string
	allWorkers                       bool
}

func (g generatedJob) total() int {
	sum := 0
	for _, n := range g.replicas {
		sum += n
	}
	return sum
}

func (g generatedJob) yaml(t require.TestingT) []byte {
	replicas := map[string]any{}
	for name, n := range g.replicas {
		c := map[string]any{"name": g.container, "image": "i"}
		if g.portName != "" {
			c["ports"] = []any{map[string]any{"name": g.portName, "containerPort": 4711}}
		}
		var env []any
		for _, name := range slices.Sorted(maps.Keys(g.own)) {
			env = append(env, map[string]any{"name": name, "value": g.own[name]})
		}
		c["env"] = env
		replicas[name] = map[string]any{"replicas": n, "template": map[string]any{"spec": map[string]any{"containers": []any{c}}}}
	}
	spec := map[string]any{g.field: replicas}
	if g.nproc != "" {
		spec["nprocPerNode"] = g.nproc
	}
	if g.elastic != nil {
		spec["elasticPolicy"] = g.elastic
	}
	if g.allWorkers {
		spec["successPolicy"] = "AllWorkers"
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": "kubeflow.org/v1", "kind": g.kind, "metadata": map[string]any{"name": "j"}, "spec": spec})
	require.NoError(t, err)
	return text
}

// sees is what the operator of a kind sets, for a replica. See pkg/controller.v1 of training-operator 1.9.
func (g generatedJob) sees(replicaType string, index int) map[string]string {
	set := map[string]string{"PYTHONUNBUFFERED": "1"}
	total, rank := strconv.Itoa(g.total()), strconv.Itoa(index)
	if replicaType == "Worker" {
		rank = strconv.Itoa(index + g.replicas["Master"])
	}
	switch g.kind {
	case "PyTorchJob":
		processes, err := strconv.Atoi(g.nproc)
		if err != nil {
			processes = 1
		}
		if g.replicas["Master"] > 0 {
			maps.Copy(set, map[string]string{"MASTER_ADDR": "j-master-0", "PET_MASTER_ADDR": "j-master-0", "MASTER_PORT": g.port, "PET_MASTER_PORT": g.port,
				"WORLD_SIZE": strconv.Itoa(processes * g.total()), "RANK": rank, "PET_NODE_RANK": rank})
		}
		set["PET_NPROC_PER_NODE"] = map[bool]string{true: "auto", false: g.nproc}[g.nproc == ""]
		set["PET_NNODES"] = total
		if g.elastic != nil {
			least, hasLeast := g.elastic["minReplicas"]
			most, hasMost := g.elastic["maxReplicas"]
			switch {
			case !hasLeast && !hasMost:
				least, most = g.replicas["Worker"], g.replicas["Worker"]
			case !hasLeast:
				least = most
			case !hasMost:
				most = least
			}
			maps.Copy(set, map[string]string{"PET_NNODES": fmt.Sprintf("%v:%v", least, most), "PET_RDZV_BACKEND": "c10d", "PET_RDZV_ENDPOINT": "j-worker-0:" + g.port})
			if n, ok := g.elastic["maxRestarts"]; ok {
				set["PET_MAX_RESTARTS"] = fmt.Sprint(n)
			}
		}
	case "XGBoostJob":
		maps.Copy(set, map[string]string{"MASTER_ADDR": "j-master-0", "MASTER_PORT": g.port, "WORLD_SIZE": total, "RANK": rank})
		if g.total() > 1 {
			var workers []string
			for i := range g.total() - 1 {
				workers = append(workers, fmt.Sprintf("j-worker-%d", i))
			}
			maps.Copy(set, map[string]string{"WORKER_PORT": g.port, "WORKER_ADDRS": strings.Join(workers, ",")})
		}
	case "PaddleJob":
		leads := "Worker"
		if g.replicas["Master"] > 0 {
			leads = "Master"
			set[map[string]string{"Master": "PADDLE_SERVER_NUM", "Worker": "PADDLE_TRAINER_NUM"}[replicaType]] = "1"
		}
		maps.Copy(set, map[string]string{"PADDLE_JOB_ID": "j", "PADDLE_NNODES": total, "PADDLE_MASTER": "j-" + strings.ToLower(leads) + "-0:" + g.port})
		if replicaType == leads && index == 0 {
			set["PADDLE_MASTER"], set["POD_IP_DUMMY"] = "its address:"+g.port, "its address"
		}
	case "JAXJob":
		maps.Copy(set, map[string]string{"COORDINATOR_ADDRESS": "j-worker-0", "COORDINATOR_PORT": g.port, "NUM_PROCESSES": total, "PROCESS_ID": rank})
	case "MPIJob":
		delete(set, "PYTHONUNBUFFERED") // it sets none of these
	case "TFJob":
		delete(set, "PYTHONUNBUFFERED")
		if g.total() == 1 {
			break
		}
		var cluster []string
		for _, t := range slices.Sorted(maps.Keys(g.replicas)) {
			var hosts []string
			for i := range g.replicas[t] {
				hosts = append(hosts, fmt.Sprintf("%q", fmt.Sprintf("j-%s-%d:%s", strings.ToLower(t), i, g.port)))
			}
			cluster = append(cluster, fmt.Sprintf("%q:[%s]", strings.ToLower(t), strings.Join(hosts, ",")))
		}
		set["TF_CONFIG"] = fmt.Sprintf(`{"cluster":{%s},"task":{"type":%q,"index":%d},"environment":"cloud"}`, strings.Join(cluster, ","), strings.ToLower(replicaType), index)
	}
	return set
}

// succeeds reports whether the operator takes a job for succeeded: UpdateJobStatus of each kind.
func (g generatedJob) succeeds(succeeded func(pod string) bool) bool {
	all := func(t string) bool {
		for i := range g.replicas[t] {
			if !succeeded(fmt.Sprintf("j-%s-%d", strings.ToLower(t), i)) {
				return false
			}
		}
		return true
	}
	for _, leader := range []string{"Chief", "Master", "Launcher"} {
		if g.replicas[leader] > 0 {
			return all(leader)
		}
	}
	return all("Worker") || g.kind == "TFJob" && !g.allWorkers && succeeded("j-worker-0")
}

// TestToldAsByKubeflow: whatever a job says, its containers see what they saw, and the same replicas decide on success; or a
// line says what differs.
func TestToldAsByKubeflow(t *testing.T) {
	kinds := []generatedJob{
		{kind: "PyTorchJob", field: "pytorchReplicaSpecs", container: "pytorch", portName: "pytorchjob-port", port: "23456"},
		{kind: "XGBoostJob", field: "xgbReplicaSpecs", container: "xgboost", portName: "xgboostjob-port", port: "9999"},
		{kind: "PaddleJob", field: "paddleReplicaSpecs", container: "paddle", portName: "master", port: "36543"},
		{kind: "JAXJob", field: "jaxReplicaSpecs", container: "jax", portName: "jaxjob-port", port: "6666"},
		{kind: "TFJob", field: "tfReplicaSpecs", container: "tensorflow", portName: "tfjob-port", port: "2222"},
		{kind: "MPIJob", field: "mpiReplicaSpecs", container: "mpi"},
	}
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(kinds).Draw(t, "kind")
		g.replicas = map[string]int{"Worker": rapid.IntRange(1, 3).Draw(t, "workers")}
		master := g.kind != "JAXJob" && rapid.Bool().Draw(t, "master")
		switch {
		case g.kind == "MPIJob":
			g.replicas["Launcher"] = 1
		case g.kind == "XGBoostJob":
			g.replicas["Master"] = 1
		case g.kind == "TFJob" && master:
			g.replicas[rapid.SampledFrom([]string{"Chief", "Master"}).Draw(t, "leader")] = 1
		case master:
			g.replicas["Master"] = rapid.IntRange(1, 2).Draw(t, "masters")
		}
		if g.kind == "TFJob" {
			g.allWorkers = rapid.Bool().Draw(t, "all workers")
			if rapid.Bool().Draw(t, "ps") {
				g.replicas["PS"] = 2
			}
		}
		if g.portName != "" && rapid.Bool().Draw(t, "a port of its own") {
			g.port = "4711"
		} else {
			g.portName = ""
		}
		if g.kind == "PyTorchJob" {
			g.nproc = rapid.SampledFrom([]string{"", "auto", "gpu", "1", "4"}).Draw(t, "nprocPerNode")
			if rapid.Bool().Draw(t, "elastic") {
				g.elastic = map[string]any{}
				for _, name := range []string{"minReplicas", "maxReplicas", "maxRestarts"} {
					if rapid.Bool().Draw(t, name) {
						g.elastic[name] = rapid.IntRange(1, 5).Draw(t, "number")
					}
				}
			}
		}
		g.own = map[string]string{}
		for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"MY", "RANK", "WORLD_SIZE", "MASTER_ADDR", "PYTHONUNBUFFERED", "TF_CONFIG", "PADDLE_MASTER", "JOB_NAME", "COORDINATOR"}), 0, 2).Draw(t, "own") {
			g.own[name] = "own"
		}
		result, notes := converted(t, "f", g.yaml(t))
		isWell(t, result)
		job := &v1alpha1.ReplicaJob{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(result), job))
		said := strings.Join(notes, "\n")

		_, pods := podsOf(t, job)
		for replicaType, n := range g.replicas {
			for i := range n {
				name := fmt.Sprintf("j-%s-%d", strings.ToLower(replicaType), i)
				require.Contains(t, pods, name)
				got := environment(pods[name].Spec.Containers[0].Env)
				want := maps.Clone(g.own)
				maps.Copy(want, g.sees(replicaType, i))
				for variable, value := range want {
					if strings.ReplaceAll(got[variable], ".j", "") != value && !strings.Contains(said, variable) &&
						!strings.Contains(said, "so the container can't set it") {
						t.Fatalf("%s of %s: %q there, %q here\n%s\n%s", variable, name, value, got[variable], said, result)
					}
				}
			}
		}
		ended := map[string]bool{}
		for name := range pods {
			ended[name] = rapid.Bool().Draw(t, name+" succeeded")
		}
		succeeded := func(pod string) bool { return ended[pod] }
		require.Equal(t, g.succeeds(succeeded), succeedsWith(t, job, succeeded), "%v\n%s", ended, result)
		if g.kind == "PyTorchJob" && g.replicas["Master"] > 0 {
			require.Equal(t, []v1alpha1.ReplicaDependency{{Type: "Master", Status: "Ready"}}, job.Spec.ReplicaSpecs["Worker"].DependsOn)
		}
	})
}
