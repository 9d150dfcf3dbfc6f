package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// alternative is a change from one of several members of a union to another.
type alternative struct {
	wanted        client.Object
	touch, change func(client.Object)
}

func alternatives[T client.Object](wanted T, touch, change func(T)) alternative {
	return alternative{wanted, func(o client.Object) { touch(o.(T)) }, func(o client.Object) { change(o.(T)) }}
}

func ofDeployment(change func(*appsv1.Deployment)) alternative {
	return alternatives(webDeployment(),
		func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "touched" }, change)
}

// Of a union, the member that was wanted before has defaults that the API server set and that are no one's. They must not
// stay beside the new member: that would be invalid.
func TestOneOfSeveralBecomesAnother(t *testing.T) {
	pod := func(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }
	withVolume := func(v corev1.VolumeSource) *appsv1.Deployment {
		d := webDeployment()
		pod(d).Volumes = []corev1.Volume{{Name: "v", VolumeSource: v}}
		return d
	}
	touch := func(d *appsv1.Deployment) { pod(d).Containers[0].Image = "touched" }
	volume := func(from, to corev1.VolumeSource) alternative {
		return alternatives(withVolume(from), touch, func(d *appsv1.Deployment) { pod(d).Volumes[0].VolumeSource = to })
	}
	secret := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}
	config := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}
	port := func(change func(*corev1.ServiceSpec)) *corev1.Service {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
		}}
		if change != nil {
			change(&s.Spec)
		}
		return s
	}
	service := func(from, to func(*corev1.ServiceSpec)) alternative {
		return alternatives(port(from), func(s *corev1.Service) { s.Labels = map[string]string{"touched": "1"} }, func(s *corev1.Service) {
			*s = *port(to)
		})
	}
	probe := func(p corev1.ProbeHandler) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { pod(d).Containers[0].LivenessProbe.ProbeHandler = p }
	}
	withProbe := webDeployment()
	probe(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}})(withProbe)
	withEnv := webDeployment()
	pod(withEnv).Containers[0].Env = []corev1.EnvVar{{Name: "E", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](0), Selector: webLabels(), Template: webPod(), ServiceName: "s",
		UpdateStrategy: appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](1)}},
	}}
	daemons := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "daemons"}, Spec: appsv1.DaemonSetSpec{Selector: webLabels(), Template: webPod()}}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: new(intstr.FromInt32(1)), Selector: webLabels(),
	}}
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "h"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MaxReplicas: 3,
	}}
	for name, c := range map[string]alternative{
		"the default strategy to Recreate": ofDeployment(func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }),
		"a rolling update to Recreate": alternatives(func() *appsv1.Deployment {
			d := webDeployment()
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1))}}
			return d
		}(), touch, func(d *appsv1.Deployment) {
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		}),
		"a ConfigMap to a Secret":     volume(config, secret),
		"a Secret to an empty volume": volume(secret, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}),
		"an empty volume to the host": volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}),
		"the host to a projection": volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}, corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}}},
		}}),
		"a downward volume to a claim": volume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
			Path: "p", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"},
		}}}}, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}),
		"an HTTP probe to a command": alternatives(withProbe.DeepCopy(), touch, probe(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}})),
		"an HTTP probe to a TCP one": alternatives(withProbe.DeepCopy(), touch, probe(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}})),
		"a reference to a value":     alternatives(withEnv, touch, func(d *appsv1.Deployment) { pod(d).Containers[0].Env = []corev1.EnvVar{{Name: "E", Value: "v"}} }),
		"ClusterIP to ExternalName": service(nil, func(s *corev1.ServiceSpec) {
			*s = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"}
		}),
		"NodePort to ClusterIP":     service(func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort }, nil),
		"LoadBalancer to ClusterIP": service(func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeLoadBalancer }, nil),
		"LoadBalancer to ExternalName": service(func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeLoadBalancer }, func(s *corev1.ServiceSpec) {
			*s = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"}
		}),
		"local traffic to ClusterIP": service(func(s *corev1.ServiceSpec) {
			s.Type, s.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
		}, nil),
		"a port to another":            service(func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort }, func(s *corev1.ServiceSpec) { s.Type, s.Ports[0].Port = corev1.ServiceTypeNodePort, 81 }),
		"a session's affinity to none": service(func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP }, func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityNone }),
		"a set's partition to OnDelete": alternatives(set, func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "touched" }, func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
		}),
		"daemons' strategy to OnDelete": alternatives(daemons, func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.Containers[0].Image = "touched" }, func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }),
		"at least to at most": alternatives(budget, func(b *policyv1.PodDisruptionBudget) { b.Labels = map[string]string{"touched": "1"} }, func(b *policyv1.PodDisruptionBudget) {
			b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, new(intstr.FromInt32(1))
		}),
		"default metrics to one's own": alternatives(scaler, func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.MaxReplicas = 4 }, func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceMemory, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](50)},
			}}}
		}),
	} {
		for _, touched := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", as created", true: ", as applied"}[touched], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				wanted := c.wanted.DeepCopyObject().(client.Object)
				w.mustWant(true, "the first member", wanted)
				if touched {
					c.touch(wanted)
					w.mustWant(true, "another change", wanted)
				}
				c.change(wanted)
				w.mustWant(true, "the other member", wanted)
				w.mustWant(false, "as wanted", wanted)
			})
		}
	}
}

// A Deployment of no Go type, and a rehearsal.
func TestOneOfSeveralOfAnUntypedObject(t *testing.T) {
	w := newWorld(t)
	untyped := func(change func(*appsv1.Deployment)) client.Object {
		d := webDeployment()
		change(d)
		return asUntyped(t, d, "apps/v1", "Deployment")
	}
	touched := func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "touched" }
	changed := func(d *appsv1.Deployment) {
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		d.Spec.Replicas = ptr.To[int32](3)
	}
	for _, change := range []func(*appsv1.Deployment){func(*appsv1.Deployment) {}, touched} {
		w.mustWant(true, "before", untyped(change))
	}
	var diff builder.Result
	w.eventually(func() (ok bool) { // a controller writes the status meanwhile
		var err error
		diff, err = w.engine.For(w.owner).Object(untyped(changed)).Diff(w.ctx)
		return err == nil
	}, "the diff")
	assert.Contains(t, diff.String(), "spec.replicas: 3")
	assert.Contains(t, diff.String(), "spec.strategy.type: \"Recreate\"")
	assert.Contains(t, diff.String(), "spec.strategy.rollingUpdate")
	w.mustWant(true, "Recreate", untyped(changed))
	got := w.get(webDeployment()).(*appsv1.Deployment)
	assert.Equal(t, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, got.Spec.Strategy)
	assert.EqualValues(t, 3, *got.Spec.Replicas)
}

// What someone else has set within a union goes when another member is desired: it could not stay. It is told.
func TestOneOfSeveralThatSomeoneElseSet(t *testing.T) {
	w := newWorld(t)
	d := webDeployment()
	for _, image := range []string{"a", "b"} {
		d.Spec.Template.Spec.Containers[0].Image = image
		w.mustWant(true, "before", d)
	}
	w.edit(d, func(o client.Object) {
		o.(*appsv1.Deployment).Spec.Strategy.RollingUpdate.MaxSurge = new(intstr.FromInt32(7))
	})
	w.mustWant(false, "what isn't desired is others' to set", d)
	w.told.take()
	d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	w.mustWant(true, "the other member", d)
	assert.Equal(t, d.Spec.Strategy, w.get(d).(*appsv1.Deployment).Spec.Strategy)
	told := eventOf(w.told.take(), "DriftCorrected")
	assert.Contains(t, told, `spec.strategy.rollingUpdate, set by the field manager "someone-else"`)
}
