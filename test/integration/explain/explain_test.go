package explain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// answer is what explain must say about what. All situations are made before the first is asked about, so that they ripen side by
// side.
type answer struct {
	what      string // KIND/NAME
	namespace string // if it isn't the place's
	reason    string
	about     string // the kind of the object at fault
	path      string // the kinds from the one that was asked for to that
	says      string // what the sentence has in it
}

// TestBroken: each of these is broken for real, and explain says why.
func TestBroken(t *testing.T) {
	p := newPlace(t)
	p.breakNodes()
	p.forbid()
	p.manageLocked()
	p.fillQuotas()
	p.breakNamespace()

	const toPod = "JobFlow Job Pod"
	answers := []answer{
		{"jf/no-image", "", "ImageNotFound", "Pod", toPod, `container main can't start, because its image registry.example.com/nosuch:1 can't be pulled: ImagePullBackOff: Back-off pulling image`},
		{"jf/full", p.full, "QuotaExceeded", "Job", "JobFlow Job", "a child can't be created: ResourceQuota no-pods is exceeded: requested pods=1, used pods=0, limited to pods=0"},
		{"jf/no-jobs", p.locked, "Forbidden", "JobFlow", "JobFlow", "system:serviceaccount:armature-system:locked has no permission to create jobs"},
		{"jf/huge", "", "RequestTooLarge", "Pod", toPod, "no node is large enough: it requests 10k cpu, and the largest of the 1 matching node, minikube, has"},
		{"jf/nowhere", "", "NoNodeMatches", "Pod", toPod, "its nodeSelector disk=ssd matches none of the cluster's 6 nodes"},
		{"jf/cordoned", "", "NodeCordoned", "Pod", toPod, "of the 1 matching node, fake-0 is cordoned"},
		{"jf/tainted", "", "TaintNotTolerated", "Pod", toPod, "fake-1 has the taint dedicated=others:NoSchedule, which it doesn't tolerate"},
		{"jf/ill-node", "", "NodeNotReady", "Pod", toPod, "its node ill isn't ready: container runtime network not ready"},
		{"jf/no-template", "", "JobTemplateNotFound", "JobFlow", "JobFlow", `waits for JobTemplate "nosuch"`},
		{"jf/no-secret", "", "SecretMissing", "Pod", toPod, "variable TOKEN of container main needs the Secret nosuch, which doesn't exist"},
		{"jf/no-configmap", "", "ConfigMapMissing", "Pod", toPod, "its volume config needs the ConfigMap nosuch, which doesn't exist"},
		{"jf/no-key", "", "ConfigError", "Pod", toPod, "container main can't be configured"},
		{"jf/policy", "", "Denied", "JobFlow", "JobFlow", "denied it: Jobs need a cost centre"},
		{"jf/webhook", "", "Denied", "Job", "JobFlow Job", "admission webhook webhook.example.com denied it: images must be signed"},
		{"jf/webhook-down", "", "WebhookUnavailable", "Job", "JobFlow Job", "admission webhook nobody.example.com doesn't answer"},
		{"jf/foreign", "", "NotOwned", "JobFlow", "JobFlow", "an object that it needs exists and belongs to another owner: apply Job.batch"},
		{"jf/no-account", "", "ServiceAccountMissing", "Job", "JobFlow Job", "there is no ServiceAccount nosuch"},
		{"jf/claim", "", "ClaimPending", "PersistentVolumeClaim", toPod + " PersistentVolumeClaim", `it is pending: there is no StorageClass "nosuch"`},
		{"pvc/data", "", "ClaimPending", "PersistentVolumeClaim", "PersistentVolumeClaim", `there is no StorageClass "nosuch"`},
		{"pvc/late", "", "ClaimPending", "PersistentVolumeClaim", "PersistentVolumeClaim", "it is pending: waiting for pod late-a-"},
		{"jf/late", "", "RequestTooLarge", "Pod", toPod, "no node is large enough: it requests 10k cpu"}, // after that event about its claim
		{"jf/no-claim", "", "ClaimMissing", "Pod", toPod, "its volume data needs the PersistentVolumeClaim nosuch, which doesn't exist"},
		{"jf/gate", "", "SchedulingGated", "Pod", toPod, "its scheduling gates keep it from being scheduled: example.com/hold"},
		{"jf/no-scheduler", "", "NoScheduler", "Pod", toPod, "no scheduler has processed it: its schedulerName is nosuch"},
		{"jf/no-command", "", "ExitCode", "Pod", toPod, "container main"},
		{"deploy/crash", "", "CrashLoop", "Pod", "Deployment ReplicaSet Pod", "container main exited with code 3; it was restarted"},
		{"jf/oom", "", "OutOfMemory", "Pod", toPod, "container main was killed because it ran out of memory: its limit is 64Mi"},
		{"deploy/unready", "", "ReadinessProbeFailing", "Pod", "Deployment ReplicaSet Pod", "container main runs, but its readiness probe hasn't succeeded"},
		{"jf/backoff", "", "ExitCode", "Pod", toPod, "container main exited with code 4; its Job has given up after 2 failed pods: the backoffLimit of 1 is reached"},
		{"jf/dependency", "", "ExitCode", "Pod", toPod, "container main exited with code 5; its Job has given up after 1 failed pod: the backoffLimit of 0 is reached; 1 node of the flow was skipped"},
		{"jf/deadline", "", "DeadlineExceeded", "JobFlow", "JobFlow", "it was active for longer than spec.activeDeadlineSeconds allows, 1 s"},
		{"jf/job-deadline", "", "DeadlineExceeded", "Job", "JobFlow Job", "it was active for longer than spec.activeDeadlineSeconds allows, 1 s"},
		{"jf/cycle", "", "InvalidSpec", "JobFlow", "JobFlow", `"a -> b -> a"`},
		{"jf/when", "", "InvalidSpec", "JobFlow", "JobFlow", "spec.flows[1].when: Invalid value"},
		{"jf/suspended", "", "Suspended", "JobFlow", "JobFlow", "it is suspended: spec.suspend is true"},
		{"jf/terminated", "", "Terminated", "JobFlow", "JobFlow", "it was stopped because spec.terminate is true"},
		{"jf/held", "", "Deleting", "JobFlow", "JobFlow", "remains until the controllers of these finalizers remove them: example.com/hold"},
		{"jf/unseen", p.unwatched, "NoManager", "JobFlow", "JobFlow", "no manager has reconciled it: its status is empty"},
		{"fj/no-queue", "", "QueueNotFound", "FluxJob", "FluxJob", `there is no FluxSetup "nosuch"`},
		{"fj/too-large", "", "ExceedsMaximumQuota", "FluxJob", "FluxJob", "allows at most 4 for one job"},
		{"dj/no-nodes", "", "NoMatchingNodes", "DaemonJob", "DaemonJob", "node"},
		{"dj/cordoned-nodes", "", "NodesUnavailable", "DaemonJob", "DaemonJob", "1 waiting (fake-0 is cordoned)"},
		{"dj/paused", "", "Paused", "DaemonJob", "DaemonJob", "it has paused: 0 of "},
		{"jf/no-node", "", "NodeNotFound", "Job", "JobFlow Job", "there is no node nosuch, which its pod template names"},
		{"jf/no-parallelism", "", "NoParallelism", "Job", "JobFlow Job", "it creates no pods: spec.parallelism is 0"},
		{"rj/empty", "", "NoReplicas", "ReplicaJob", "ReplicaJob", "it has no replicas: replicas is 0 in spec.replicaSpecs.Worker"},
		{"jf/not-found", "", "ExitCode", "Pod", toPod, "container main exited with code 127: a command was not found"},
		{"jf/going", "", "Deleting", "Pod", "JobFlow Pod", "remains until the controllers of these finalizers remove them: example.com/hold"},
		{"deploy/none", "", "NoReplicas", "Deployment", "Deployment", "it is scaled to 0"},
		{"job/asleep", "", "Suspended", "Job", "Job", "it is suspended"},
		{"rj/replica", "", "NoNodeMatches", "Pod", "ReplicaJob Pod", "its nodeSelector disk=ssd matches none"},
	}
	for _, want := range answers {
		t.Run(want.what, func(t *testing.T) {
			namespace := want.namespace
			if namespace == "" {
				namespace = p.Namespace
			}
			found, code := explain(t, namespace, want.what, func(f finding) bool {
				return f.Reason == want.reason && f.kinds() == want.path && strings.Contains(f.Message, want.says)
			})
			assert.Equal(t, want.reason, found.Reason, "%+v", found)
			assert.Equal(t, 1, code)
			assert.Equal(t, want.about, found.Object.Kind)
			assert.Equal(t, want.path, found.kinds())
			assert.Contains(t, found.Message, want.says)
			assert.NotEmpty(t, found.Next)
		})
	}
	t.Run("well", func(t *testing.T) {
		for what, phase := range map[string]string{"jf/good": "Succeeded", "jf/long": "Running", "deploy/serves": "Running"} {
			found, code := explain(t, p.Namespace, what, func(f finding) bool { return f.Phase == phase })
			assert.Equal(t, phase, found.Phase, "%+v", found)
			assert.Zero(t, code)
			assert.Empty(t, found.Reason)
		}
	})
	t.Run("in Kueue's queue", func(t *testing.T) {
		found, code := explain(t, p.Namespace, "job/kueue", func(f finding) bool { return f.Reason == "Queued" })
		assert.Equal(t, "Waiting", found.Phase, "%+v", found)
		assert.Zero(t, code)
		assert.Contains(t, found.Message, "it waits in Kueue's queue team-a")
	})
	t.Run("in line", func(t *testing.T) {
		found, code := explain(t, p.Namespace, "fj/queue-full", func(f finding) bool { return f.Reason == "WaitingForQuota" })
		assert.Equal(t, "Waiting", found.Phase, "%+v", found)
		assert.Zero(t, code, "nothing is wrong")
		assert.Contains(t, found.Message, "it waits in the queue at position 1: it requests 1 MiniCluster")
	})
	t.Run("output", p.testOutput)
}

// testOutput holds what people and scripts see.
func (p *place) testOutput(t *testing.T) {
	out, _, code := binary.RunIn(t, p.Namespace, "explain", "jobflow", "cycle")
	assert.Equal(t, 1, code)
	assert.Equal(t, `JobFlow/cycle is blocked: its spec is invalid: flow "a": spec.flows[0].dependencies: Invalid value: "a -> b -> a": `+
		"the dependencies form a cycle\n\n  JobFlow/cycle  Failed 0/2\n\nNext: correct the field that the message names: kubectl edit jobflow/cycle -n "+p.Namespace+"\n", out)
	out, _, code = binary.RunIn(t, p.Namespace, "explain", "jf/good")
	assert.Zero(t, code)
	assert.Equal(t, "JobFlow/good: it has succeeded\n", out)
	out, _, code = binary.RunIn(t, p.Namespace, "explain", "jf/suspended", "-o", "name")
	assert.Equal(t, 1, code)
	assert.Equal(t, "jobflow.api.practice.com/suspended\n", out)
	out, _, code = binary.RunIn(t, p.Namespace, "explain", "jf/suspended", "-o", "yaml")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "phase: Blocked\nreason: Suspended\n")
	for _, args := range [][]string{{"jf/none"}, {"nosuch/a"}, {"jf"}, {"jf/good", "-o", "wide"}} {
		_, errs, code := binary.RunIn(t, p.Namespace, append([]string{"explain"}, args...)...)
		assert.Equal(t, 2, code, "%v", args)
		assert.NotEmpty(t, errs, "%v", args)
	}
}

// breakNamespace makes everything that is asked about.
func (p *place) breakNamespace() {
	p.T.Helper()
	spec := func(how func(*corev1.PodSpec)) func(*corev1.PodTemplateSpec) {
		return func(t *corev1.PodTemplateSpec) { how(&t.Spec) }
	}
	selecting := func(key, value string) func(*corev1.PodTemplateSpec) {
		return spec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{key: value} })
	}
	onNode := func(name string) func(*corev1.PodTemplateSpec) {
		return spec(func(s *corev1.PodSpec) { s.NodeSelector, s.NodeName = nil, name })
	}
	labelled := func(value string) func(*corev1.PodTemplateSpec) {
		return func(t *corev1.PodTemplateSpec) { t.Labels = map[string]string{"deny": value} }
	}
	env := func(e corev1.EnvVar) func(*corev1.PodTemplateSpec) {
		return spec(func(s *corev1.PodSpec) { s.Containers[0].Env = []corev1.EnvVar{e} })
	}
	volume := func(name string, v corev1.VolumeSource) func(*corev1.PodTemplateSpec) {
		return spec(func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: name, VolumeSource: v}}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: name, MountPath: "/" + name}}
		})
	}
	claim := func(name string) func(*corev1.PodTemplateSpec) {
		return volume("data", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
	}
	pvc := func(name, class string) client.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
	}
	late := &storagev1.StorageClass{ // its claims wait until their pod is scheduled
		ObjectMeta: metav1.ObjectMeta{Name: p.Namespace}, Provisioner: "none", VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
	require.NoError(p.T, p.Client.Create(context.Background(), late))
	p.clean(late)
	huge := spec(func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10000")}
	})
	in := func(namespace string, obj client.Object) client.Object { obj.SetNamespace(namespace); return obj }
	object := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	key := func(name, key string) *corev1.ConfigMapKeySelector {
		return &corev1.ConfigMapKeySelector{LocalObjectReference: object(name), Key: key}
	}

	p.create(flow("no-image", pod("true", onNode("hand"), spec(func(s *corev1.PodSpec) { s.Containers[0].Image = "registry.example.com/nosuch:1" }))))
	p.create(
		in(p.full, flow("full", pod("true"))), in(p.locked, flow("no-jobs", pod("true"))), in(p.unwatched, flow("unseen", pod("true"))),
		flow("huge", pod("true", huge)),
		flow("nowhere", pod("true", selecting("disk", "ssd"))),
		flow("cordoned", pod("true", selecting("kubernetes.io/hostname", "fake-0"))),
		flow("tainted", pod("true", selecting("kubernetes.io/hostname", "fake-1"))),
		flow("ill-node", pod("true", onNode("ill"))),
		&v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "no-template"}, Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{{Name: "a", JobTemplateRef: "nosuch"}}}},
		flow("no-secret", pod("true", env(corev1.EnvVar{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: object("nosuch"), Key: "token"}}}))),
		flow("no-configmap", pod("true", volume("config", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: object("nosuch")}}))),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}},
		flow("no-key", pod("true", env(corev1.EnvVar{Name: "LEVEL", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: key("settings", "level")}}))),
		flow("policy", pod("true"), func(f *v1alpha1.JobFlow) { f.Spec.GlobalParams.Labels = map[string]string{"deny": "policy"} }),
		flow("webhook", pod("true", labelled("webhook"))), flow("webhook-down", pod("true", labelled("nobody"))),
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "foreign-a"}, Spec: batchv1.JobSpec{Suspend: new(true), Template: never(pod("true"))}},
		flow("foreign", pod("true")),
		flow("no-account", pod("true", spec(func(s *corev1.PodSpec) { s.ServiceAccountName = "nosuch" }))),
		pvc("data", "nosuch"), pvc("late", late.Name), flow("late", pod("true", claim("late"), huge)),
		flow("claim", pod("true", claim("data"))), flow("no-claim", pod("true", claim("nosuch"))),
		flow("gate", pod("true", spec(func(s *corev1.PodSpec) { s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/hold"}} }))),
		flow("no-scheduler", pod("true", spec(func(s *corev1.PodSpec) { s.SchedulerName = "nosuch" }))),
		flow("no-command", pod("true", spec(func(s *corev1.PodSpec) { s.Containers[0].Command = []string{"/no/such/program"} }))),
		deployment("crash", pod("exit 3")), deployment("serves", pod("sleep 1000")),
		deployment("unready", pod("sleep 1000", spec(func(s *corev1.PodSpec) {
			s.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"false"}}}}
		}))),
		// No node enforces memory limits here: a simulated one says what a kubelet would.
		flow("oom", pod("true", func(t *corev1.PodTemplateSpec) {
			t.Annotations = map[string]string{"devcluster.armature.dev/exit-code": "137", "devcluster.armature.dev/reason": "OOMKilled"}
			t.Spec.NodeSelector = onFake
			t.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
		})),
		flow("backoff", pod("exit 4"), func(f *v1alpha1.JobFlow) { f.Spec.Flows[0].JobTemplate.BackoffLimit = new(int32(1)) }),
		flow("dependency", pod("exit 5"), func(f *v1alpha1.JobFlow) { f.Spec.Flows = append(f.Spec.Flows, node("b", pod("true"), "a")) }),
		flow("deadline", pod("sleep 1000"), func(f *v1alpha1.JobFlow) { f.Spec.ActiveDeadlineSeconds = new(int64(1)) }),
		flow("job-deadline", pod("sleep 1000"), func(f *v1alpha1.JobFlow) { f.Spec.Flows[0].JobTemplate.ActiveDeadlineSeconds = new(int64(1)) }),
		flow("cycle", pod("true"), func(f *v1alpha1.JobFlow) {
			f.Spec.Flows = []v1alpha1.Flow{node("a", pod("true"), "b"), node("b", pod("true"), "a")}
		}),
		flow("when", pod("true"), func(f *v1alpha1.JobFlow) {
			b := node("b", pod("true"), "a")
			b.When = "jobs.a.succeeded &&"
			f.Spec.Flows = append(f.Spec.Flows, b)
		}),
		flow("suspended", pod("true"), func(f *v1alpha1.JobFlow) { f.Spec.Suspend = true }),
		flow("terminated", pod("sleep 1000"), func(f *v1alpha1.JobFlow) { f.Spec.Terminate = true }),
		flow("held", pod("true"), func(f *v1alpha1.JobFlow) { f.Finalizers = []string{"example.com/hold"} }),
		fluxJob("no-queue", "nosuch"), fluxJob("too-large", p.Namespace, func(j *v1alpha1.FluxJob) { j.Spec.Size = new(int32(9)) }),
		fluxJob("first", p.Namespace, func(j *v1alpha1.FluxJob) { // it keeps its share, and never gets a node
			j.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10000")}}
		}), daemonJob("no-nodes", map[string]string{"disk": "ssd"}),
		daemonJob("paused", nil, func(j *v1alpha1.DaemonJob) {
			j.Spec.FailurePolicy, j.Spec.Parallelism = v1alpha1.FailurePause, new(intstr.FromInt32(1))
			j.Spec.Template.Annotations = map[string]string{"devcluster.armature.dev/exit-code": "3"} // of nodes that only pretend
			j.Spec.Template.Spec.Containers[0].Command = []string{"sh", "-c", "exit 3"}
		}),
		flow("no-node", pod("true", onNode("nosuch"))),
		flow("no-parallelism", pod("true"), func(f *v1alpha1.JobFlow) { f.Spec.Flows[0].JobTemplate.Parallelism = new(int32(0)) }),
		flow("not-found", pod("nosuchcommand")), flow("going", pod("sleep 1000", func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"example.com/hold"} })),
		&v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Name: "empty"}, Spec: v1alpha1.ReplicaJobSpec{ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
			"Worker": {Replicas: new(int32(0)), Template: pod("true")},
		}}},
		daemonJob("cordoned-nodes", map[string]string{"kubernetes.io/hostname": "fake-0"}),
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "asleep"}, Spec: batchv1.JobSpec{Suspend: new(true), Template: never(pod("true"))}},
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kueue", Labels: map[string]string{"kueue.x-k8s.io/queue-name": "team-a"}},
			Spec: batchv1.JobSpec{Suspend: new(true), Template: never(pod("true"))}},
		&v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Name: "replica"}, Spec: v1alpha1.ReplicaJobSpec{ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
			"Worker": {Template: pod("true", selecting("disk", "ssd"))},
		}}},
		flow("good", pod("true")), flow("long", pod("sleep 1000")),
	)
	none := deployment("none", pod("true"))
	none.Spec.Replicas = new(int32(0))
	p.create(none)
	held := flow("held", pod("true"))
	held.Namespace = p.Namespace
	require.NoError(p.T, p.Client.Delete(context.Background(), held))
	p.T.Cleanup(func() {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		assert.NoError(p.T, client.IgnoreNotFound(p.Client.Patch(context.Background(), held, patch)))
	})
	p.failImage()
	p.deleteInForeground("going")
	p.eventually("the first FluxJob is admitted", func() error {
		first := &v1alpha1.FluxJob{}
		if err := p.Client.Get(context.Background(), client.ObjectKey{Namespace: p.Namespace, Name: "first"}, first); err != nil {
			return err
		}
		if first.Status.Admission == nil {
			return fmt.Errorf("it is %s", first.Status.State)
		}
		return nil
	})
	p.create(fluxJob("queue-full", p.Namespace))
}

// deleteInForeground deletes a flow as soon as it has a pod, whose finalizer holds it back until the test ends.
func (p *place) deleteInForeground(name string) {
	p.T.Helper()
	pods := &corev1.PodList{}
	p.eventually("the flow "+name+" has a pod", func() error {
		err := p.Client.List(context.Background(), pods, client.InNamespace(p.Namespace), client.MatchingLabels{"batch.kubernetes.io/job-name": name + "-a"})
		if err == nil && len(pods.Items) == 0 {
			err = fmt.Errorf("no pod")
		}
		return err
	})
	p.T.Cleanup(func() {
		release := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		for i := range pods.Items {
			assert.NoError(p.T, client.IgnoreNotFound(p.Client.Patch(context.Background(), &pods.Items[i], release)))
		}
	})
	gone := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}}
	require.NoError(p.T, p.Client.Delete(context.Background(), gone, client.PropagationPolicy(metav1.DeletePropagationForeground)))
}

// fillQuotas makes a quota without room for pods, and a queue for one job of at most 4 pods.
func (p *place) fillQuotas() {
	p.T.Helper()
	none := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: p.full, Name: "no-pods"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	queue := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: p.Namespace}, Spec: v1alpha1.FluxSetupSpec{
		Quota: v1alpha1.FluxQuota{MiniClusters: new(int32(1)), Pods: new(int32(4))},
	}}
	p.create(quota)
	require.NoError(p.T, p.Client.Create(context.Background(), queue))
	p.clean(queue)
	p.eventually("the quota is in force", func() error {
		if err := p.Client.Get(context.Background(), client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if len(quota.Status.Hard) == 0 {
			return fmt.Errorf("no one has looked at it")
		}
		return nil
	})
}

// failImage says of the pod on the node that has no kubelet what a kubelet says when an image can't be pulled: no node of a
// devcluster pulls images.
func (p *place) failImage() {
	p.T.Helper()
	p.eventually("a status of the pod without an image", func() error {
		var pods corev1.PodList
		if err := p.Client.List(context.Background(), &pods, client.InNamespace(p.Namespace), client.MatchingLabels{"batch.kubernetes.io/job-name": "no-image-a"}); err != nil {
			return err
		}
		if len(pods.Items) != 1 {
			return fmt.Errorf("%d pods", len(pods.Items))
		}
		pod := &pods.Items[0]
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", Image: pod.Spec.Containers[0].Image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason:  "ImagePullBackOff",
				Message: `Back-off pulling image "registry.example.com/nosuch:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/nosuch:1": not found`,
			}},
		}}, StartTime: new(metav1.NewTime(time.Now()))}
		return p.Client.Status().Update(context.Background(), pod)
	})
}

func never(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	return t
}
