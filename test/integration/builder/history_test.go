package builder_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

func containsWord(text, word string) bool { return strings.Contains(text, " "+word+" ") }

// defaultClass makes a storage class that claims without one get, until the test ends.
func (w *world) defaultClass(t *testing.T) {
	class := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: w.ns, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "none", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}
	require.NoError(t, w.live.Create(w.ctx, class))
	t.Cleanup(func() { assert.NoError(t, w.live.Delete(context.WithoutCancel(t.Context()), class)) })
	w.eventually(func() bool { // the admission plugin has a cache
		claim := claimOf("try", "1Gi")
		claim.Namespace = w.ns
		require.NoError(t, w.live.Create(w.ctx, &claim, client.DryRunAll))
		return claim.Spec.StorageClassName != nil
	}, "the default class")
}

// specOf returns what is in an object beside its metadata and status, without the addresses that each Service has alone.
func specOf(t *testing.T, obj client.Object) map[string]any {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(fields, name)
	}
	return fields
}

// fresh returns what a new object of the same spec becomes, without making it.
func (w *world) fresh(desired client.Object) client.Object {
	w.t.Helper()
	obj := desired.DeepCopyObject().(client.Object)
	obj.SetNamespace(w.ns)
	obj.SetName(desired.GetName() + "-fresh")
	if service, ok := obj.(*corev1.Service); ok { // the live one has these ports
		for i := range service.Spec.Ports {
			service.Spec.Ports[i].NodePort = 0
		}
	}
	require.NoError(w.t, w.live.Create(w.ctx, obj, client.DryRunAll))
	return obj
}

// history is an object in several stages of its life.
type history struct {
	obj    client.Object
	stages []func(client.Object)
}

func historyOf[T client.Object](obj T, stages ...func(T)) history {
	h := history{obj: obj}
	for _, stage := range stages {
		h.stages = append(h.stages, func(o client.Object) { stage(o.(T)) })
	}
	return h
}

// What the API server makes of an object follows from what is desired now, not from what was desired before: the fields
// that it derives from others go with them.
func TestLiveIsWhatAFreshCreateIs(t *testing.T) {
	egress := []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}}
	ingress := []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}}
	pod := func(change func(*corev1.PodSpec)) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { change(&d.Spec.Template.Spec) }
	}
	strategy := func(s appsv1.DeploymentStrategyType) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Spec.Strategy.Type = s }
	}
	volume := func(v corev1.VolumeSource) func(*appsv1.Deployment) {
		return pod(func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: v}} })
	}
	secret := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}
	config := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}
	for name, h := range map[string]history{
		"egress added": historyOf(&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: networkingv1.NetworkPolicySpec{Ingress: ingress}},
			func(n *networkingv1.NetworkPolicy) { n.Spec.Egress = egress },
			func(n *networkingv1.NetworkPolicy) { n.Spec.Egress = nil },
			func(n *networkingv1.NetworkPolicy) { n.Spec.Egress = egress },
			func(n *networkingv1.NetworkPolicy) { n.Spec.Ingress = nil }),
		"account": historyOf(webDeployment(),
			pod(func(s *corev1.PodSpec) { s.ServiceAccountName = "strong" }),
			pod(func(s *corev1.PodSpec) { s.ServiceAccountName = "other" }),
			pod(func(s *corev1.PodSpec) { s.ServiceAccountName = "" })),
		"host ports": historyOf(webDeployment(),
			pod(func(s *corev1.PodSpec) { s.HostNetwork = true }),
			pod(func(s *corev1.PodSpec) { s.HostNetwork = false })),
		"strategy": historyOf(webDeployment(), strategy("Recreate"), strategy("RollingUpdate"), strategy("Recreate"), strategy("")),
		"volume": historyOf(webDeployment(), volume(corev1.VolumeSource{}), volume(secret), volume(corev1.VolumeSource{}), volume(config),
			volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), volume(corev1.VolumeSource{})),
		"a probe's handler": historyOf(webDeployment(),
			pod(func(s *corev1.PodSpec) { s.Containers[0].LivenessProbe = nil }),
			pod(func(s *corev1.PodSpec) {
				s.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80}}}
			}),
			pod(func(s *corev1.PodSpec) {
				s.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
			})),
		"a StatefulSet's strategy": historyOf(setOf(""),
			func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType },
			func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType },
			func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = "" }),
		"a StatefulSet's partition": historyOf(setOf(""),
			func(s *appsv1.StatefulSet) {
				s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
			},
			func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.RollingUpdate = nil }),
		"a selector made of the pod's labels": historyOf(controllerOf(map[string]string{"app": "web"}),
			func(c *corev1.ReplicationController) { c.Spec.Template.Labels["tier"] = "front" },
			func(c *corev1.ReplicationController) { delete(c.Spec.Template.Labels, "tier") }),
		"daemons' strategy": historyOf(&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DaemonSetSpec{Selector: webLabels(), Template: idlePod()}},
			func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType },
			func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType },
			func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }),
		"affinity of sessions": historyOf(serviceOf(corev1.ServicePort{Port: 80}),
			func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP },
			func(s *corev1.Service) { s.Spec.SessionAffinity = "" },
			func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP },
			func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityNone }),
		"an image's tag": historyOf(webDeployment(),
			pod(func(s *corev1.PodSpec) { s.Containers[0].Image = "web:1" }),
			pod(func(s *corev1.PodSpec) { s.Containers[0].Image = "web:latest" }),
			pod(func(s *corev1.PodSpec) { s.Containers[0].Image = "localhost:80/web@sha256:" + strings.Repeat("a", 64) })),
		"an empty struct beside a field that goes": historyOf(webDeployment(),
			pod(func(s *corev1.PodSpec) { s.Containers[0].Env = s.Containers[0].Env[:1] }),
			pod(func(s *corev1.PodSpec) {
				s.Containers[0].Env, s.Containers[0].SecurityContext = nil, &corev1.SecurityContext{}
			}),
			pod(func(s *corev1.PodSpec) { s.Containers[0].LivenessProbe = nil })),
		"a port's protocol": historyOf(serviceOf(corev1.ServicePort{Name: "p", Port: 80}),
			func(s *corev1.Service) { s.Spec.Ports[0].Protocol = corev1.ProtocolUDP },
			func(s *corev1.Service) { s.Spec.Ports[0].Port = 81 },
			func(s *corev1.Service) { s.Spec.Ports[0].Protocol = "" }),
	} {
		for _, touched := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", as created", true: ", as applied"}[touched], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				desired := h.obj.DeepCopyObject().(client.Object)
				w.mustWant(true, "create", desired)
				before := w.get(desired)
				if touched {
					desired.SetLabels(map[string]string{"touched": "1"})
					w.mustWant(true, "touch", desired)
				}
				for i, stage := range h.stages {
					stage(desired)
					w.mustWant(true, "stage", desired)
					assert.Equal(t, comparable(specOf(t, w.fresh(desired))), comparable(specOf(t, w.get(desired))), "stage %d", i)
					w.mustWant(false, "as desired", desired)
				}
				assert.Equal(t, before.GetUID(), w.get(desired).GetUID())
			})
		}
	}
}

// A struct without a field stays, also that of an object without a Go type, when another field goes.
func TestEmptyStructOfAnUntypedObject(t *testing.T) {
	w := newWorld(t)
	scaler := func(change string) client.Object {
		return untyped(t, "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {maxReplicas: 3, "+
			"scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, "+change+"}}")
	}
	w.mustWant(true, "create", scaler("behavior: {scaleDown: {selectPolicy: Min}}, minReplicas: 2"))
	empty := scaler("behavior: {}")
	w.mustWant(true, "empty", empty)
	assert.Equal(t, specOf(t, w.fresh(empty)), specOf(t, w.get(empty)))
	w.mustWant(false, "as desired", empty)
}

func controllerOf(labels map[string]string) *corev1.ReplicationController {
	pod := idlePod()
	pod.Labels = labels
	return &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](0), Template: &pod}}
}

// comparable leaves out what each Service has alone.
func comparable(spec map[string]any) map[string]any {
	in, _ := spec["spec"].(map[string]any)
	for _, name := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
		delete(in, name)
	}
	if taint, ok := in["taint"].(map[string]any); ok {
		delete(taint, "timeAdded")
	}
	if ports, ok := in["ports"].([]any); ok {
		for _, port := range ports {
			if _, ok := port.(map[string]any)["nodePort"]; ok {
				port.(map[string]any)["nodePort"] = "some"
			}
		}
	}
	return spec
}

// What the API server lets no one remove stays, and an event says so: also what the plan itself had desired.
func TestFieldThatCannotBeRemoved(t *testing.T) {
	for _, touched := range []bool{false, true} {
		w := newWorld(t)
		recreate := builder.RecreateImmutable("")
		set := statefulSet()
		set.Name = "set"
		w.mustWant(true, "create", set, recreate)
		before := w.get(set).(*appsv1.StatefulSet)
		if touched {
			set.SetLabels(map[string]string{"touched": "1"})
			w.mustWant(true, "touch", set, recreate)
		}
		w.told.take()
		set.Spec.VolumeClaimTemplates = nil
		set.Spec.Template.Spec.Containers[0].Image = "other"
		w.mustWant(true, "no claims", set, recreate)
		after := w.get(set).(*appsv1.StatefulSet)
		assert.Equal(t, before.UID, after.UID)
		assert.Equal(t, before.Spec.VolumeClaimTemplates, after.Spec.VolumeClaimTemplates)
		assert.Equal(t, "other", after.Spec.Template.Spec.Containers[0].Image)
		assert.Contains(t, eventOf(w.told.take(), "FieldsLeft"), "Warning FieldsLeft Apply: StatefulSet set keeps spec.volumeClaimTemplates, "+
			"which the API server lets no one remove from an existing object: desire it as it is, or delete the object")
		w.mustWant(false, "as desired", set, recreate)
		set.SetAnnotations(map[string]string{"a": "1"})
		w.mustWant(true, "a later change", set, recreate)
		assert.Empty(t, eventOf(w.told.take(), "FieldsLeft"))
	}
}

// How many pods a Job runs at once can be changed. How many must succeed was chosen by the API server at its creation, can't
// be changed, and stays.
func TestParallelismOfAJob(t *testing.T) {
	for _, touched := range []bool{false, true} {
		w := newWorld(t)
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: batchv1.JobSpec{Suspend: new(true), Template: onceOnly(idlePod())}}
		w.mustWant(true, "create", job)
		before := w.get(job).GetUID()
		if touched {
			job.SetLabels(map[string]string{"touched": "1"})
			w.mustWant(true, "touch", job)
		}
		for _, parallelism := range []int32{3, 2} {
			job.Spec.Parallelism = new(parallelism)
			w.mustWant(true, "parallelism", job)
			got := w.get(job).(*batchv1.Job)
			assert.Equal(t, parallelism, *got.Spec.Parallelism)
			assert.EqualValues(t, 1, *got.Spec.Completions)
			assert.Equal(t, before, got.UID)
			w.mustWant(false, "as desired", job)
		}
		job.Spec.Completions = ptr.To[int32](2)
		_, _, err := w.want(job)
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
	}
}
