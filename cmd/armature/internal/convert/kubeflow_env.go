package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// trainingJob is a job of the training operator whose replicas find each other by environment variables. What its operator sets
// is that of https://github.com/kubeflow/training-operator/tree/v1.9.0/pkg/controller.v1, envvar.go of each framework.
type trainingJob struct {
	from     field
	kind     kubeflowKind
	replicas map[string]int64 // by type
	places   map[string]field // of the types
}

// replicaTypes are the types of replicas that have a meaning. The defaults of the training operator write them so.
var replicaTypes = []string{"Chief", "Evaluator", "Launcher", "Master", "PS", "Worker"}

func newTrainingJob(from field, kind kubeflowKind) trainingJob {
	j := trainingJob{from: from, kind: kind, replicas: map[string]int64{}, places: map[string]field{}}
	for _, name := range from.get(kind.replicas).keys() {
		of := from.get(kind.replicas, name)
		if len(of.keys()) == 0 {
			continue
		}
		i := slices.IndexFunc(replicaTypes, func(known string) bool { return strings.EqualFold(known, name) && known != name })
		if i >= 0 && !from.get(kind.replicas, replicaTypes[i]).has() && !j.has(replicaTypes[i]) { // lint refuses both
			name = replicaTypes[i]
			from.source.rename(of.path, "the type of replicas is called %s", name)
		}
		j.places[name] = of
		j.replicas[name] = 1
		if n, ok := of.get("replicas").value.(int64); ok {
			j.replicas[name] = n
		}
	}
	return j
}

func (j trainingJob) has(replicaType string) bool { _, ok := j.replicas[replicaType]; return ok }

func (j trainingJob) total() int64 {
	sum := int64(0)
	for _, n := range j.replicas {
		sum += n
	}
	return sum
}

// port returns the port by which replicas of a type are reached: the one with the kind's name, or its default.
func (j trainingJob) port(replicaType string) string {
	for _, c := range j.places[replicaType].get("template", "spec", "containers").items() {
		for _, port := range c.get("ports").items() {
			if c.get("name").value == j.kind.container && port.get("name").value == j.kind.port {
				return valueText(port.get("containerPort").value)
			}
		}
	}
	return j.kind.defaultPort
}

// host is the name by which a replica was known there.
func host(replicaType string, index int64) string {
	return fmt.Sprintf("$(JOB_NAME)-%s-%d", strings.ToLower(replicaType), index)
}

// variable is one of a container's.
type variable = map[string]any

func env(name, value string) variable { return variable{"name": name, "value": value} }

var unbuffered = env("PYTHONUNBUFFERED", "1")

// sameHere are variables that a ReplicaJob sets just as the operator does.
func sameHere(names ...string) []variable {
	var all []variable
	for _, name := range names {
		all = append(all, variable{"name": name})
	}
	return all
}

// numbers says that a variable has the replicas in it as they are now.
func (j trainingJob) numbers(what string) {
	j.from.source.note(j.from.get(j.kind.replicas).path, "%s for these replicas: change it when you change replicas", what)
}

func pytorchEnv(j trainingJob, _ string) []variable {
	vars := []variable{unbuffered}
	nproc, isSet := j.from.get("nprocPerNode"), j.from.get("elasticPolicy", "nProcPerNode").has()
	processes, text := int64(1), "auto"
	if nproc.has() {
		text = valueText(nproc.take())
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			processes = n
		}
	}
	if nproc.has() || !isSet {
		vars = append(vars, env("PET_NPROC_PER_NODE", text))
	}
	nodes := "$(WORLD_SIZE)"
	if !j.has("Master") {
		nodes = strconv.FormatInt(j.total(), 10)
	} else {
		port := j.port("Master")
		vars = append(vars, env("MASTER_ADDR", "$(COORDINATOR)"), env("MASTER_PORT", port),
			env("PET_MASTER_ADDR", "$(COORDINATOR)"), env("PET_MASTER_PORT", port), env("PET_NODE_RANK", "$(RANK)"))
		vars = append(vars, sameHere("RANK")...)
		if processes == 1 {
			vars = append(vars, sameHere("WORLD_SIZE")...)
		} else {
			nodes = strconv.FormatInt(j.total(), 10) // $(WORLD_SIZE) counts processes then
			vars = append(vars, env("WORLD_SIZE", strconv.FormatInt(processes*j.total(), 10)))
			j.numbers("WORLD_SIZE and PET_NNODES are numbers")
		}
	}
	if j.from.get("elasticPolicy").has() {
		return append(vars, j.elasticEnv()...)
	}
	if !j.has("Master") {
		j.numbers("PET_NNODES is the number")
	}
	return append(vars, env("PET_NNODES", nodes))
}

// elasticEnv is what torchrun reads of an elasticPolicy.
func (j trainingJob) elasticEnv() []variable {
	policy := j.from.get("elasticPolicy")
	least, most := policy.get("minReplicas"), policy.get("maxReplicas")
	fixed := strconv.FormatInt(j.replicas["Worker"], 10)
	nodes := textOr(least, textOr(most, fixed)) + ":" + textOr(most, textOr(least, fixed))
	vars := []variable{
		env("PET_RDZV_BACKEND", textOr(policy.get("rdzvBackend"), "c10d")),
		env("PET_RDZV_ENDPOINT", textOr(policy.get("rdzvHost"), host("Worker", 0))+":"+textOr(policy.get("rdzvPort"), j.port("Worker"))),
		env("PET_NNODES", nodes),
	}
	for _, option := range [][2]string{
		{"maxRestarts", "PET_MAX_RESTARTS"}, {"nProcPerNode", "PET_NPROC_PER_NODE"}, {"rdzvId", "PET_RDZV_ID"},
	} {
		if of := policy.get(option[0]); of.has() {
			vars = append(vars, env(option[1], valueText(of.take())))
		}
	}
	var conf []string
	for _, c := range policy.get("rdzvConf").items() {
		conf = append(conf, textOr(c.get("key"), "")+"="+textOr(c.get("value"), ""))
	}
	if len(conf) > 0 {
		vars = append(vars, env("PET_RDZV_CONF", strings.Join(conf, ",")))
	}
	if policy.get("standalone").isTrue() {
		vars = append(vars, env("PET_STANDALONE", ""))
	}
	if metrics := policy.get("metrics"); metrics.has() {
		metrics.drop("no HorizontalPodAutoscaler is made: make one of the ReplicaJob, whose scale is the replicas of Worker")
	}
	return vars
}

// textOr takes a value as a text, or returns another if there is none.
func textOr(f field, otherwise string) string {
	if !f.has() {
		return otherwise
	}
	return valueText(f.take())
}

func xgboostEnv(j trainingJob, _ string) []variable {
	vars := []variable{unbuffered, env("MASTER_ADDR", "$(COORDINATOR)"), env("MASTER_PORT", j.port("Master"))}
	vars = append(vars, sameHere("RANK", "WORLD_SIZE")...)
	if j.total() < 2 {
		return vars
	}
	var workers []string
	for i := range j.total() - 1 {
		workers = append(workers, host("Worker", i))
	}
	j.numbers("WORKER_ADDRS is a list")
	return append(vars, env("WORKER_PORT", j.port("Worker")), env("WORKER_ADDRS", strings.Join(workers, ",")))
}

// paddleEnv gives the replica that the others meet at its own address, by which paddle knows that it is that one.
func paddleEnv(j trainingJob, replicaType string) []variable {
	vars := []variable{unbuffered, env("PADDLE_JOB_ID", "$(JOB_NAME)"), env("PADDLE_NNODES", "$(WORLD_SIZE)")}
	leads := "Worker"
	if j.has("Master") {
		leads = "Master"
	}
	meets := "$(COORDINATOR)"
	if replicaType == leads {
		vars = append(vars, variable{
			"name": "POD_IP_DUMMY", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "status.podIP"}},
		})
		if j.replicas[leads] == 1 {
			meets = "$(POD_IP_DUMMY)"
		} else {
			j.from.source.note(j.places[leads].path,
				"PADDLE_MASTER has the host name of %s 0, also in its own pod, which had its address there: "+
					"set it in the command, of POD_IP_DUMMY, if paddle doesn't find itself by its name", leads)
		}
	}
	vars = append(vars, env("PADDLE_MASTER", meets+":"+j.port(leads)))
	switch {
	case leads == "Worker":
	case replicaType == "Master":
		vars = append(vars, env("PADDLE_SERVER_NUM", "1"))
	default:
		vars = append(vars, env("PADDLE_TRAINER_NUM", "1"))
	}
	return vars
}

func jaxEnv(j trainingJob, _ string) []variable {
	return []variable{unbuffered, env("COORDINATOR_ADDRESS", "$(COORDINATOR)"), env("COORDINATOR_PORT", j.port("Worker")),
		env("NUM_PROCESSES", "$(REPLICAS)"), env("PROCESS_ID", "$(REPLICA_INDEX)")}
}

// tensorflowEnv is TF_CONFIG: who there is, and who this is. A job of one replica has none.
func tensorflowEnv(j trainingJob, replicaType string) []variable {
	dynamic := j.from.get("enableDynamicWorker")
	sparse := dynamic.isTrue()
	if sparse {
		j.from.source.note(dynamic.path, "a Worker that fails for good fails the job, which went on there")
	}
	if j.total() == 1 {
		return nil
	}
	hosts := func(t string) []string {
		all := []string{}
		for i := range j.replicas[t] {
			all = append(all, fmt.Sprintf("%q", host(t, i)+":"+j.port(t)))
		}
		return all
	}
	me := strings.ToLower(replicaType)
	task := fmt.Sprintf(`"task":{"type":%q,"index":$(REPLICA_INDEX)}`, me)
	if sparse {
		own, ps := fmt.Sprintf("%q", "$(JOB_NAME)-"+me+"-$(REPLICA_INDEX):"+j.port(replicaType)), []string{}
		worker := ""
		switch replicaType {
		case "PS":
			ps = []string{own}
		case "Worker":
			ps, worker = hosts("PS"), `"$(REPLICA_INDEX)":`+own
		}
		return []variable{env("TF_CONFIG", fmt.Sprintf(`{"sparseCluster":{"worker":{%s},"ps":[%s]},%s}`, worker, strings.Join(ps, ","), task))}
	}
	var cluster []string
	for _, t := range sortedKeys(j.replicas) {
		cluster = append(cluster, fmt.Sprintf("%q:[%s]", strings.ToLower(t), strings.Join(hosts(t), ",")))
	}
	j.numbers("TF_CONFIG is a list")
	return []variable{env("TF_CONFIG", fmt.Sprintf(`{"cluster":{%s},%s,"environment":"cloud"}`, strings.Join(cluster, ","), task))}
}

// setEnv puts the variables of an operator before a container's own. There they came after these, so that the value of one
// of the same name is the operator's.
func (j trainingJob) setEnv(container map[string]any, vars []variable, at field) {
	sets := map[any]bool{}
	var all []any
	for _, v := range vars {
		sets[v["name"]] = true
		if len(v) > 1 {
			all = append(all, v)
		}
	}
	own, _ := container["env"].([]any)
	kept := slices.DeleteFunc(slices.Clone(own), func(v any) bool {
		of, _ := v.(map[string]any)
		return sets[of["name"]]
	})
	for _, v := range at.get("env").items() {
		name, _ := v.get("name").value.(string)
		refers := func(of variable) bool { return strings.Contains(asText(of["value"]), "$("+name+")") }
		switch {
		case sets[name]:
			v.source.note(v.path, "not carried over: its operator sets %s, whatever the container says", name)
		case slices.ContainsFunc(vars, refers):
			v.source.note(v.path, "what its operator set is made of %s here, so the container can't set it: rename it", name)
		}
	}
	if all = append(all, kept...); len(all) > 0 {
		container["env"] = all
	} else {
		delete(container, "env")
	}
}
