package convert

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// jobSet makes a ReplicaJob of a JobSet: each of its replicated jobs becomes a type, of which the pods of all Jobs are the
// replicas. What is meant is that of https://github.com/kubernetes-sigs/jobset/tree/main/api/jobset/v1alpha2.
func jobSet(root field) map[string]any {
	object, spec := newObject("ReplicaJob", root)
	for _, key := range root.get("metadata", "annotations").keys() {
		if strings.HasPrefix(key, "alpha.jobset.sigs.k8s.io/") {
			root.source.note(root.get("metadata", "annotations", key).path,
				"nothing reads it here: an affinity in the pods' templates can say where they go")
		}
	}
	name := asText(root.get("metadata", "name").value)
	jobSetSpec(root.get("spec"), spec, name)
	return object
}

// replicatedJob is one of a JobSet's.
type replicatedJob struct {
	from         field
	name         string
	jobs, pods   int64 // Jobs, and the pods of each
	backoffLimit int64
	inPlace      bool // containers are restarted by the kubelet
}

func jobSetSpec(from field, spec map[string]any, name string) {
	var all []replicatedJob
	failure := jobSetFailureOf(from.get("failurePolicy"))
	for _, rj := range from.get("replicatedJobs").items() {
		job := rj.get("template", "spec")
		r := replicatedJob{
			from: rj, name: rj.get("name").text(),
			jobs: rj.get("replicas").number(1), backoffLimit: job.get("backoffLimit").number(6),
		}
		r.pods = job.get("parallelism").number(1)
		if completions := job.get("completions"); completions.has() && completions.number(1) != r.pods {
			from.source.note(completions.path, "all of them run at once; there %d at a time", r.pods)
			r.pods = completions.number(1)
		}
		if mode := job.get("completionMode"); mode.text() == "NonIndexed" {
			from.source.note(mode.path, "each pod has an index, and all of them have to succeed")
		}
		// A restart in place is no failure of a pod: only backoffLimit counts it, and where it doesn't, nothing would end the restarts.
		policy := job.get("template", "spec", "restartPolicy").value
		r.inPlace = policy != "Never" && r.backoffLimit > 0 && !failure.isCounted()
		all = append(all, r)
	}
	replicas, types := map[string]any{}, []any{}
	for i, r := range all {
		of := r.replicas(all, name, asText(from.get("network", "subdomain").value))
		if from.get("startupPolicy", "startupPolicyOrder").value == "InOrder" && i > 0 {
			of["dependsOn"] = []any{map[string]any{"type": all[i-1].name, "status": "Ready"}}
		}
		replicas[r.name] = of
		types = append(types, r.name)
	}
	switch order := from.get("startupPolicy", "startupPolicyOrder"); order.value {
	case "AnyOrder", "InOrder":
		order.take()
	default:
		order.drop("want AnyOrder or InOrder, found %v", order.value)
	}
	spec["replicaSpecs"] = replicas
	jobSetSuccess(from, spec, all, types)
	run := map[string]any{}
	failure.set(from, spec, run, all)
	from.get("suspend").move(run, "suspend")
	from.get("ttlSecondsAfterFinished").move(run, "ttlSecondsAfterFinished")
	if len(run) > 0 {
		spec["runPolicy"] = run
	}
	network := from.get("network")
	network.get("subdomain").take()
	if names := network.get("enableDNSHostnames"); names.has() && !names.isTrue() {
		from.source.note(names.path, "pods have host names all the same")
	}
	if publish := network.get("publishNotReadyAddresses"); publish.has() && !publish.isTrue() {
		from.source.note(publish.path, "pods have their names before they are ready")
	}
	from.get("coordinator").drop("containers have COORDINATOR, the host name of the replica with rank 0")
	from.get("managedBy").drop("it names who shall run the JobSet; Armature runs this one")
}

// replicas makes the type of a replicated job.
func (r replicatedJob) replicas(all []replicatedJob, jobSet, subdomain string) map[string]any {
	job := r.from.get("template", "spec")
	of := map[string]any{"replicas": r.jobs * r.pods, "restartPolicy": "Never"}
	if r.inPlace {
		of["restartPolicy"] = "OnFailure"
	}
	if group := r.from.get("groupName"); group.value == "default" { // what JobSet's own webhook writes
		group.take()
	} else {
		group.drop("a ReplicaJob has no groups of types")
	}
	var on []any
	for _, d := range r.from.get("dependsOn").items() {
		on = append(on, map[string]any{"type": d.get("name").text(), "status": d.get("status").text()})
	}
	if len(on) > 0 {
		of["dependsOn"] = on
	}
	job.get("activeDeadlineSeconds").drop("it is that of one Job; runPolicy.activeDeadlineSeconds is the whole job's")
	template := job.get("template").object()
	pod := objectIn(template, "spec")
	delete(pod, "restartPolicy")
	for _, kind := range []string{"initContainers", "containers"} {
		containers, _ := pod[kind].([]any)
		for i, at := range job.get("template", "spec", kind).items() {
			if container, ok := containers[i].(map[string]any); ok {
				r.passIndex(container, at)
			}
		}
	}
	r.renames(all, jobSet, subdomain, template)
	of["template"] = template
	return of
}

// index returns what a label or a variable of an index has become; false if there is none.
func (r replicatedJob) index(ofJob bool) (label, value string, ok bool) {
	switch {
	case ofJob && r.pods == 1, !ofJob && r.jobs == 1:
		return "metadata.labels['api.practice.com/replica-index']", "$(REPLICA_INDEX)", true
	case !ofJob && r.pods == 1:
		return "", "0", true
	default:
		return "", "", false
	}
}

var (
	podIndex = regexp.MustCompile(`^metadata\.(labels|annotations)\['batch\.kubernetes\.io/job-completion-index'\]$`)
	jobIndex = regexp.MustCompile(`^metadata\.(labels|annotations)\['jobset\.sigs\.k8s\.io/(job-index|job-global-index)'\]$`)
)

// passIndex sets the variables with the Job index in a container, and maps its references to labels.
func (r replicatedJob) passIndex(container map[string]any, at field) {
	own, _ := container["env"].([]any)
	for i, v := range at.get("env").items() {
		path := asText(v.get("valueFrom", "fieldRef", "fieldPath").value)
		ofJob := jobIndex.MatchString(path)
		if !ofJob && !podIndex.MatchString(path) {
			if strings.Contains(path, "jobset.sigs.k8s.io/") {
				v.source.note(v.path, "pods don't have it here")
			}
			continue
		}
		label, value, ok := r.index(ofJob)
		changed, _ := own[i].(map[string]any)
		switch {
		case !ok || strings.Contains(path, "global"):
			v.source.note(v.path, "pods don't have it here; REPLICA_INDEX is job x %d + pod", r.pods)
		case label == "":
			delete(changed, "valueFrom")
			changed["value"] = value
		default:
			changed["valueFrom"] = map[string]any{"fieldRef": map[string]any{"fieldPath": label}}
		}
	}
	if _, value, ok := r.index(false); ok {
		container["env"] = append([]any{env("JOB_COMPLETION_INDEX", value)}, own...)
	} else {
		at.source.note(r.from.path, "JOB_COMPLETION_INDEX isn't set: REPLICA_INDEX is job x %d + pod", r.pods)
	}
}

// renames puts the names that pods have here in the place of those that they had.
func (r replicatedJob) renames(all []replicatedJob, jobSet, subdomain string, template map[string]any) {
	if jobSet == "" {
		return
	}
	if subdomain == "" {
		subdomain = jobSet
	}
	for _, other := range all {
		host := regexp.MustCompile(`\b` + regexp.QuoteMeta(jobSet+"-"+other.name) + `-([0-9]+)-([0-9]+)` +
			`(\.` + regexp.QuoteMeta(subdomain) + `\b)?`)
		mapTexts(template, func(text string) string {
			return host.ReplaceAllStringFunc(text, func(found string) string {
				part := host.FindStringSubmatch(found)
				job, _ := strconv.ParseInt(part[1], 10, 64)
				pod, _ := strconv.ParseInt(part[2], 10, 64)
				name := fmt.Sprintf("%s-%s-%d", jobSet, other.name, job*other.pods+pod)
				if part[3] != "" {
					name += "." + jobSet
				}
				return name
			})
		})
	}
	r.from.source.rename(r.from.path, "pods are called <jobset>-%s-<index>, with the index job x %d + pod, "+
		"also where the template has their names", r.name, r.pods)
}

// jobSetSuccess says whose success is that of the whole: by default all.
func jobSetSuccess(from field, spec map[string]any, all []replicatedJob, types []any) {
	policy := from.get("successPolicy")
	rule, targets := "All", types
	switch operator := policy.get("operator"); operator.value {
	case "All", "Any":
		rule = operator.text()
	default:
		operator.drop("want All or Any, found %v", operator.value)
	}
	if of := policy.get("targetReplicatedJobs").strings(); len(of) > 0 {
		targets = anys(of)
	}
	for _, r := range all {
		for _, target := range targets {
			if rule == "Any" && target == r.name && r.pods > 1 {
				from.source.note(policy.path, "one pod of %s is enough; there it was all pods of a Job", r.name)
			}
		}
	}
	spec["successPolicy"] = map[string]any{"rule": rule, "replicaTypes": targets}
}

// jobSetActions are the actions of a failure, and what they are called here.
var jobSetActions = map[string]string{
	"FailJobSet":                        "Fail",
	"RestartJobSet":                     "RestartJob",
	"RestartJobSetAndIgnoreMaxRestarts": "RestartJobIgnoringMax",
}

// jobSetFailure is what a JobSet does after the failure of a Job.
type jobSetFailure struct {
	restarts int64
	rules    []any
}

// isCounted reports whether the failure of a Job has a consequence of its own.
func (f jobSetFailure) isCounted() bool { return f.restarts > 0 || len(f.rules) > 0 }

// jobSetFailureOf reads a JobSet's failurePolicy.
func jobSetFailureOf(policy field) jobSetFailure {
	f := jobSetFailure{restarts: policy.get("maxRestarts").number(0)}
	for _, rule := range policy.get("rules").items() {
		reasons := rule.get("onJobFailureReasons").strings()
		if len(reasons) > 1 || len(reasons) == 1 && reasons[0] != "BackoffLimitExceeded" || rule.get("onJobFailureMessagePatterns").has() {
			rule.drop("it is about why a Job failed; a rule here is about a pod's exit code, reason or message")
			continue
		}
		made := map[string]any{"action": jobSetActions[rule.get("action").text()]}
		if targets := rule.get("targetReplicatedJobs").strings(); len(targets) > 0 {
			made["replicaTypes"] = anys(targets)
		}
		rule.get("name").take()
		f.rules = append(f.rules, made)
	}
	return f
}

// set writes what a failure means. There it is that of a Job, after its backoffLimit; here it is that of a pod.
func (f jobSetFailure) set(from field, spec, run map[string]any, all []replicatedJob) {
	policy, to, rules := from.get("failurePolicy"), map[string]any{}, f.rules
	var patient []string // their Jobs make failed pods again before they fail
	for _, r := range all {
		if r.backoffLimit > 0 {
			patient = append(patient, r.name)
		}
	}
	switch {
	case f.isCounted() && len(patient) > 0:
		from.source.note(policy.path, "the first failure of a pod counts; there its Job made it again up to backoffLimit times")
	case len(patient) > 0:
		limit := int64(0)
		for _, r := range all {
			limit = max(limit, r.backoffLimit)
		}
		run["backoffLimit"] = limit
		rules = append(rules, map[string]any{"action": "RestartReplica", "replicaTypes": anys(patient)})
		if len(all) > 1 || all[0].jobs > 1 {
			from.source.note(from.get("replicatedJobs").path,
				"runPolicy.backoffLimit counts the restarts of all pods, up to %d; there each Job had its own", limit)
		}
	}
	if f.isCounted() {
		to["maxRestarts"] = f.restarts
		rules = append(rules, map[string]any{"action": "RestartJob"})
	}
	if len(rules) > 0 {
		to["rules"] = rules
	}
	switch strategy := policy.get("restartStrategy"); strategy.value {
	case "Recreate", "BlockingRecreate":
		strategy.move(to, "restartStrategy")
	default:
		strategy.drop("want Recreate or BlockingRecreate")
	}
	if len(to) > 0 {
		spec["failurePolicy"] = to
	}
}
