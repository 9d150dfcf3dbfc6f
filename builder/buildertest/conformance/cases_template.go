package conformance

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// workload is an object with the template of its Pods.
type workload struct {
	object   client.Object
	template *corev1.PodTemplateSpec
}

// workloads returns an object of each kind with a template.
func workloads(name string) []workload {
	d, rs, sts, ds, j, cron := deployment(name), replicaSet(name), statefulSet(name), daemonSet(name), job(name), cronJob(name)
	return []workload{
		{d, &d.Spec.Template}, {rs, &rs.Spec.Template}, {sts, &sts.Spec.Template}, {ds, &ds.Spec.Template},
		{j, &j.Spec.Template}, {cron, &cron.Spec.JobTemplate.Spec.Template},
	}
}

func invalidTemplates(s *session) {
	for _, w := range workloads("metadata") {
		w.template.Labels = map[string]string{"app": "web", "name": strings.Repeat("x", 64)}
		w.template.Annotations = map[string]string{"not a key": ""}
		s.create("label and annotation of a template", w.object)
	}
	for _, w := range workloads("mounts") {
		c := &w.template.Spec.Containers[0]
		c.VolumeMounts = []corev1.VolumeMount{{Name: "missing", MountPath: "/missing"}}
		c.Ports = []corev1.ContainerPort{{Name: "has-16-letters-x", ContainerPort: 80}}
		s.create("mount and port of a template", w.object)
	}
	key := deployment("key")
	key.Spec.Template.Labels = map[string]string{"app": "web", "a b": "c"}
	s.create("label of a template with a key that is none", key)
	s.patch("label of a template later", s.given(deployment("good")), types.MergePatchType,
		`{"spec":{"template":{"metadata":{"labels":{"a":"b c"}}}}}`)

	claims := statefulSet("claims")
	claims.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	claims.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data"}}
	s.note("a claim can be mounted, and replaces a volume", s.exists(s.given(claims)))
	shifted := statefulSet("shifted")
	shifted.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "twice"}, {Name: "twice"}}
	s.create("volumes beside a claim", shifted)
	s.create("stateful set with a dot", statefulSet("a.b"))
}

func invalidPods(s *session) {
	volumes := pod("volumes")
	volumes.Spec.Volumes = []corev1.Volume{{Name: "twice"}, {Name: "twice"}, {Name: "Not_a_name"}, {}}
	s.create("volumes", volumes)

	mounts := pod("mounts")
	mounts.Spec.Volumes = []corev1.Volume{{Name: "there"}, {Name: "Not_a_name"}}
	wrong := []corev1.VolumeMount{
		{Name: "there", MountPath: "/a"}, {Name: "there", MountPath: "/a"}, {Name: "there"},
		{Name: "missing", MountPath: "/b"}, {Name: "Not_a_name", MountPath: "/c"}, {MountPath: "/d"},
	}
	mounts.Spec.Containers[0].VolumeMounts = wrong
	mounts.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "busybox", VolumeMounts: wrong[3:4]}}
	s.create("mounts", mounts)

	ports := pod("ports")
	ports.Spec.Containers[0].Ports = []corev1.ContainerPort{
		{Name: "http", ContainerPort: 80}, {Name: "http", ContainerPort: 81}, {Name: "has-16-letters-x", ContainerPort: 82},
		{Name: "Not_A_Port", ContainerPort: 83}, {Name: "84", ContainerPort: 84}, {Name: "-a--b", ContainerPort: 85},
		{Name: "none"}, {Name: "high", ContainerPort: 70000},
	}
	ports.Spec.InitContainers = []corev1.Container{
		{Name: "init", Image: "busybox", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}, {Name: "a_b", ContainerPort: 81}}},
	}
	s.create("ports", ports)

	names := pod("names")
	names.Spec.Containers = append(names.Spec.Containers, corev1.Container{}, corev1.Container{Image: "busybox"})
	names.Spec.InitContainers = []corev1.Container{
		{Name: "main", Image: "busybox"}, {Name: "init", Image: "busybox"}, {Name: "init"}, {Name: "A_b", Image: "busybox"},
	}
	s.create("containers", names)
}

func invalidJobs(s *session) {
	s.note("job with 63 characters", s.exists(s.given(job(strings.Repeat("x", 63)))))
	s.create("job with 64 characters", job(strings.Repeat("x", 64)))
	s.note("cron job with 52 characters", s.exists(s.given(cronJob(strings.Repeat("x", 52)))))
	s.create("cron job with 53 characters", cronJob(strings.Repeat("x", 53)))

	indexed := func(name string, completions int32) *batchv1.Job {
		j := job(name)
		j.Spec.CompletionMode, j.Spec.Completions = ptr.To(batchv1.IndexedCompletion), new(completions)
		return j
	}
	s.note("10 indexes of a job with 61 characters", s.exists(s.given(indexed(strings.Repeat("x", 61), 10))))
	s.create("11 indexes", indexed(strings.Repeat("y", 61), 11))
	s.create("indexes of a job with a dot", indexed("a.b", 1))

	other := job("copied")
	other.Spec.Template.Labels = map[string]string{"job-name": "original", batchv1.JobNameLabel: "original"}
	s.create("template of another job", other)
	invalidJobPolicies(s)
}

// invalidJobPolicies combines policies that exclude each other.
func invalidJobPolicies(s *session) {
	refuse := func(name string, change func(*batchv1.JobSpec)) {
		j := job("policies")
		change(&j.Spec)
		s.create(name, j)
	}
	ignore := func(values ...int32) *batchv1.PodFailurePolicy {
		policy := onExitCode42(batchv1.PodFailurePolicyActionIgnore)
		policy.Rules[0].OnExitCodes.Values = values
		return policy
	}
	refuse("podFailurePolicy with OnFailure", func(o *batchv1.JobSpec) {
		o.PodFailurePolicy, o.Template.Spec.RestartPolicy = ignore(42), corev1.RestartPolicyOnFailure
	})
	refuse("podFailurePolicy and TerminatingOrFailed", func(o *batchv1.JobSpec) {
		o.PodFailurePolicy, o.PodReplacementPolicy = ignore(42), ptr.To(batchv1.TerminatingOrFailed)
	})
	refuse("podFailurePolicy on success", func(o *batchv1.JobSpec) { o.PodFailurePolicy = ignore(42, 0, 42) })
	refuse("podFailurePolicy of no container", func(o *batchv1.JobSpec) {
		o.PodFailurePolicy = ignore()
		o.PodFailurePolicy.Rules[0].OnExitCodes.ContainerName = new("other")
	})
	refuse("podFailurePolicy on nothing", func(o *batchv1.JobSpec) {
		o.PodFailurePolicy = ignore()
		o.PodFailurePolicy.Rules[0].OnExitCodes = nil
	})
	refuse("FailIndex without a limit", func(o *batchv1.JobSpec) {
		o.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionFailIndex)
	})
	refuse("successPolicy of a Job without indexes", func(o *batchv1.JobSpec) {
		o.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
	})
	refuse("successPolicy of too many indexes", func(o *batchv1.JobSpec) {
		o.CompletionMode, o.Completions = ptr.To(batchv1.IndexedCompletion), new(int32(1))
		o.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(2))}, {}}}
	})
	refuse("successPolicy without rules", func(o *batchv1.JobSpec) {
		o.CompletionMode, o.Completions = ptr.To(batchv1.IndexedCompletion), new(int32(1))
		o.SuccessPolicy = &batchv1.SuccessPolicy{}
	})
	refuse("backoffLimitPerIndex without indexes", func(o *batchv1.JobSpec) {
		o.BackoffLimitPerIndex, o.MaxFailedIndexes = new(int32(1)), new(int32(1))
	})
	refuse("maxFailedIndexes alone", func(o *batchv1.JobSpec) {
		o.CompletionMode, o.Completions = ptr.To(batchv1.IndexedCompletion), new(int32(1))
		o.MaxFailedIndexes = new(int32(2))
	})
}

func replicaSet(name string) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: meta(name), Spec: appsv1.ReplicaSetSpec{
		Replicas: ptr.To[int32](0), Selector: selector(), Template: template(),
	}}
}
