package convert

import "fmt"

// volcanoTemplate makes a JobTemplate of each task of one of Volcano's: a Job has one kind of pods.
func volcanoTemplate(root field) []map[string]any {
	name, _ := root.get("metadata", "name").value.(string)
	job := root.get("spec")
	tasks := job.get("tasks").items()
	if len(tasks) > 1 {
		root.source.note(job.get("tasks").path, "a Job has one kind of pods: there is a JobTemplate for each task; "+
			"their Jobs start together, and not as a gang")
	}
	volcanoPolicies(job)
	var all []map[string]any
	for i, task := range tasks {
		object, spec := newObject("JobTemplate", root)
		object["metadata"].(map[string]any)["name"] = taskNames(name, root)[i]
		spec["jobTemplate"] = volcanoJob(job, task)
		all = append(all, object)
	}
	if len(tasks) == 0 {
		root.source.note(job.path, "not carried over: it has no tasks")
	}
	return all
}

// volcanoJob makes a Job's spec of a task.
func volcanoJob(job, task field) map[string]any {
	spec := map[string]any{}
	task.get("name").take()
	if replicas := task.get("replicas").number(1); replicas != 1 {
		spec["parallelism"], spec["completions"] = replicas, replicas
	}
	job.get("ttlSecondsAfterFinished").move(spec, "ttlSecondsAfterFinished")
	template := task.get("template").object()
	pod := objectIn(template, "spec")
	if name := job.get("priorityClassName").text(); name != "" && pod["priorityClassName"] == nil {
		pod["priorityClassName"] = name
	}
	if name := job.get("schedulerName").text(); name != "" && name != "volcano" && pod["schedulerName"] == nil {
		pod["schedulerName"] = name
	}
	if policy, ok := pod["restartPolicy"]; ok {
		delete(pod, "restartPolicy")
		if policy != "Never" {
			task.source.note(task.get("template", "spec", "restartPolicy").path,
				"not carried over: pods of a flow aren't restarted in place; backoffLimit in the jobTemplate recreates failed ones")
		}
	}
	volcanoVolumes(job, pod)
	spec["template"] = template
	return spec
}

// volcanoVolumes mounts a job's volumes into all containers.
func volcanoVolumes(job field, pod map[string]any) {
	for i, volume := range job.get("volumes").items() {
		claim := volume.get("volumeClaimName").text()
		if claim == "" {
			volume.drop("a flow makes no PersistentVolumeClaims: make one, and name it in volumeClaimName")
			continue
		}
		name := fmt.Sprintf("volume-%d", i)
		volumes, _ := pod["volumes"].([]any)
		pod["volumes"] = append(volumes, map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": claim}})
		path := volume.get("mountPath").text()
		for _, kind := range []string{"initContainers", "containers"} {
			containers, _ := pod[kind].([]any)
			for _, c := range containers {
				if container, ok := c.(map[string]any); ok {
					mounts, _ := container["volumeMounts"].([]any)
					container["volumeMounts"] = append(mounts, map[string]any{"name": name, "mountPath": path})
				}
			}
		}
	}
}

// volcanoPolicies says what is Volcano's scheduler's and controller's own.
func volcanoPolicies(job field) {
	if scheduler := job.get("schedulerName"); scheduler.value == "volcano" {
		scheduler.drop("pods go to the cluster's default scheduler; set schedulerName in the pods' templates if they shall go to Volcano's")
	}
	job.get("minAvailable").drop("the pods of a Job aren't scheduled as a gang; a ReplicaJob's are, by runPolicy.schedulingPolicy")
	if queue := job.get("queue"); queue.value == "default" {
		queue.take()
	} else {
		queue.drop("Jobs have no queue; spec.parallelism of the flow bounds how many run")
	}
	job.get("maxRetry").drop("Volcano counts restarts of the whole job; backoffLimit in the jobTemplate counts pods that failed")
	job.get("policies").drop("a Job fails when a pod has failed more often than backoffLimit, and completes when all have succeeded")
	job.get("plugins").drop("a Job's pods have JOB_COMPLETION_INDEX if completionMode is Indexed; a ReplicaJob's have host names and ranks")
	job.get("minSuccess").drop("successPolicy in the jobTemplate can say so, with completionMode: Indexed")
	for _, task := range job.get("tasks").items() {
		task.get("minAvailable").drop("the pods of a Job aren't scheduled as a gang; a ReplicaJob's are, by runPolicy.schedulingPolicy")
		task.get("policies").drop("podFailurePolicy in the jobTemplate can say what a failure means")
		task.get("maxRetry").drop("backoffLimit in the jobTemplate counts pods that failed")
		task.get("dependsOn").drop("a task waits until pods of others run, a flow until a Job has ended; " +
			"a ReplicaJob's dependsOn waits until pods are ready")
	}
}

// objectIn returns the object of a name in another, which is made if it isn't there.
func objectIn(object map[string]any, name string) map[string]any {
	in, ok := object[name].(map[string]any)
	if !ok {
		in = map[string]any{}
		object[name] = in
	}
	return in
}
