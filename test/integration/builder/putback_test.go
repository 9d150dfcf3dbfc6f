package builder_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// refusedDrift is an edit of another writer beside which the API server refuses what is desired: what the edit added stays
// where server-side apply merges, and the two together are invalid.
type refusedDrift struct {
	desired client.Object
	edit    func(client.Object)
}

func drifting[T client.Object](desired T, edit func(T)) refusedDrift {
	return refusedDrift{desired, func(o client.Object) { edit(o.(T)) }}
}

// podDrift is a refusedDrift of a Deployment's pod template, as desired gives it and as edit changes it.
func podDrift(desired, edit func(*corev1.PodSpec)) refusedDrift {
	d := webDeployment()
	desired(&d.Spec.Template.Spec)
	return drifting(d, func(d *appsv1.Deployment) { edit(&d.Spec.Template.Spec) })
}

func probeDrift(desired, edit corev1.ProbeHandler) refusedDrift {
	return podDrift(
		func(s *corev1.PodSpec) { s.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: desired} },
		func(s *corev1.PodSpec) { s.Containers[0].LivenessProbe.ProbeHandler = edit })
}

func volumeDrift(desired, edit corev1.VolumeSource) refusedDrift {
	return podDrift(
		func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "a"}, {Name: "v", VolumeSource: desired}} },
		func(s *corev1.PodSpec) { s.Volumes[1].VolumeSource = edit })
}

func serviceOf(ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: ports}}
}

func deploymentOf(strategy appsv1.DeploymentStrategyType) *appsv1.Deployment {
	d := webDeployment()
	d.Spec.Strategy.Type = strategy
	return d
}

func setOf(strategy appsv1.StatefulSetUpdateStrategyType) *appsv1.StatefulSet {
	s := statefulSet()
	s.Name, s.Spec.UpdateStrategy.Type = "set", strategy
	return s
}

func budgetOf(minAvailable, maxUnavailable *intstr.IntOrString) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: minAvailable, MaxUnavailable: maxUnavailable, Selector: webLabels(),
	}}
}

func refusedDrifts() map[string]refusedDrift {
	one, port := new(intstr.FromInt32(1)), func(port int32) []corev1.ServicePort { return []corev1.ServicePort{{Name: "p", Port: port}} }
	byValue := []corev1.EnvVar{{Name: "E", Value: "v"}}
	byReference := []corev1.EnvVar{{Name: "E", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}}
	http := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}
	exec := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}
	config := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	return map[string]refusedDrift{
		"Service port":     drifting(serviceOf(port(80)...), func(s *corev1.Service) { s.Spec.Ports[0].Port = 81 }),
		"Service protocol": drifting(serviceOf(port(80)...), func(s *corev1.Service) { s.Spec.Ports[0].Protocol = corev1.ProtocolUDP }),
		"unnamed port":     drifting(serviceOf(corev1.ServicePort{Port: 80}), func(s *corev1.Service) { s.Spec.Ports[0].Port = 81 }),
		"one of two ports": drifting(serviceOf(corev1.ServicePort{Name: "p", Port: 80}, corev1.ServicePort{Name: "q", Port: 443}),
			func(s *corev1.Service) { s.Spec.Ports[1].Port = 444 }),
		"Deployment strategy": drifting(deploymentOf(appsv1.RecreateDeploymentStrategyType),
			func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType }),
		"StatefulSet strategy": drifting(setOf(appsv1.OnDeleteStatefulSetStrategyType), func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
				Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)},
			}
		}),
		"ConfigMap to empty volume": volumeDrift(config, empty),
		"empty volume to ConfigMap": volumeDrift(empty, config),
		"value to reference": podDrift(func(s *corev1.PodSpec) { s.Containers[0].Env = byValue },
			func(s *corev1.PodSpec) { s.Containers[0].Env = byReference }),
		"reference to value": podDrift(func(s *corev1.PodSpec) { s.Containers[0].Env = byReference },
			func(s *corev1.PodSpec) { s.Containers[0].Env = byValue }),
		"HTTP probe to command": probeDrift(http, exec),
		"command to HTTP probe": probeDrift(exec, http),
		"named container port": podDrift(func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{Name: "p", ContainerPort: 80}}
		},
			func(s *corev1.PodSpec) { s.Containers[0].Ports[0].ContainerPort = 81 }),
		"renamed container": podDrift(func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{Name: "p", ContainerPort: 80, HostPort: 80}}
		}, func(s *corev1.PodSpec) { s.Containers[0].Name = "other" }),
		"ConfigMap key to binary": drifting(configMap("c", "a", "1"), func(c *corev1.ConfigMap) {
			delete(c.Data, "a")
			c.BinaryData = map[string][]byte{"a": []byte("3")}
		}),
		"minAvailable to maxUnavailable": drifting(budgetOf(one, nil), func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, one }),
		"maxUnavailable to minAvailable": drifting(budgetOf(nil, one), func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable, b.Spec.MaxUnavailable = one, nil }),
	}
}

// removedFields are the fields that the builder removes to put the drifts of refusedDrifts back, as the event names them.
var removedFields = map[string]string{
	"Service port":                   `spec.ports[port=81,protocol="TCP"]`,
	"Service protocol":               `spec.ports[port=80,protocol="UDP"]`,
	"unnamed port":                   `spec.ports[port=81,protocol="TCP"]`,
	"one of two ports":               `spec.ports[port=444,protocol="TCP"]`,
	"Deployment strategy":            `spec.strategy.rollingUpdate`,
	"StatefulSet strategy":           `spec.updateStrategy.rollingUpdate`,
	"ConfigMap to empty volume":      `spec.template.spec.volumes[name="v"].emptyDir`,
	"empty volume to ConfigMap":      `spec.template.spec.volumes[name="v"].configMap`,
	"value to reference":             `spec.template.spec.containers[name="web"].env[name="E"].valueFrom`,
	"reference to value":             `spec.template.spec.containers[name="web"].env[name="E"].value`,
	"HTTP probe to command":          `spec.template.spec.containers[name="web"].livenessProbe.exec`,
	"command to HTTP probe":          `spec.template.spec.containers[name="web"].livenessProbe.httpGet`,
	"named container port":           `spec.template.spec.containers[name="web"].ports[containerPort=81,protocol="TCP"]`,
	"renamed container":              `spec.template.spec.containers[name="other"]`,
	"ConfigMap key to binary":        `binaryData.a`,
	"minAvailable to maxUnavailable": `spec.maxUnavailable`,
	"maxUnavailable to minAvailable": `spec.minAvailable`,
}

// Drift is put back whatever it takes: the object is never called immutable, and never deleted.
func TestRefusedDriftIsPutBack(t *testing.T) {
	for name, c := range refusedDrifts() {
		for _, touched := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", as created", true: ", as applied"}[touched], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				recreate := builder.RecreateImmutable("")
				desired := c.desired.DeepCopyObject().(client.Object)
				w.mustWant(true, "create", desired, recreate)
				if touched {
					desired.SetLabels(map[string]string{"touched": "1"})
					w.mustWant(true, "touch", desired, recreate)
				}
				before := w.get(desired)
				w.edit(desired, c.edit)
				w.told.take()
				w.mustWant(true, "drift", desired, recreate)
				after := w.get(desired)
				assert.Equal(t, before.GetUID(), after.GetUID(), "it is the same object")
				assert.Zero(t, w.sent.count(http.MethodDelete, ""))
				assert.Equal(t, specOf(t, before), specOf(t, after))
				w.mustWant(false, "put back", desired, recreate)
				require.Contains(t, removedFields, name)
				assert.Contains(t, eventOf(w.told.take(), "DriftCorrected"),
					"removed "+removedFields[name]+`, set by the field manager "someone-else", which`)
				desired.SetLabels(map[string]string{"touched": "2"})
				w.mustWant(true, "a later change", desired, recreate)
				assert.Equal(t, before.GetUID(), w.get(desired).GetUID())
			})
		}
	}
}

// The API server refuses two ports of one node port with an error that names no field: also that is put back.
func TestNodePortOfAnEditedPort(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	s := serviceOf(corev1.ServicePort{Name: "p", Port: 80}, corev1.ServicePort{Name: "q", Port: 90})
	s.Spec.Type = corev1.ServiceTypeNodePort
	w.mustWant(true, "create", s, recreate)
	before := w.get(s).(*corev1.Service)
	s.Spec.Ports[0].NodePort = before.Spec.Ports[0].NodePort
	w.mustWant(true, "the node port as desired", s, recreate)
	w.edit(s, func(o client.Object) {
		edited := o.(*corev1.Service)
		edited.Spec.Ports[0].Port = 81
		edited.Spec.Ports = append(edited.Spec.Ports, corev1.ServicePort{Name: "theirs", Port: 100})
	})
	w.mustWant(true, "drift", s, recreate)
	after := w.get(s).(*corev1.Service)
	assert.Equal(t, before.UID, after.UID)
	got := map[int32]int32{}
	for _, port := range after.Spec.Ports {
		got[port.Port] = port.NodePort
	}
	assert.Equal(t, before.Spec.Ports[0].NodePort, got[80])
	assert.Contains(t, got, int32(90))
	assert.Contains(t, got, int32(100), "what isn't in the way stays")
	assert.NotContains(t, got, int32(81))
	w.mustWant(false, "put back", s, recreate)
}

// An apply right after another write of the same pass must not meet the API server's cache before that write: for a Service, the
// server would allocate the node port for the old version, begin again with the new one, and find the port allocated, for minutes.
func TestNodePortAfterFieldsAreTakenOver(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		s := serviceOf(corev1.ServicePort{Name: "p", Port: 80})
		s.Name = fmt.Sprintf("s-%d", i)
		w.mustWant(true, "create", s)
		edit := s.DeepCopy()
		edit.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		require.NoError(t, w.drift(w.get(s), edit, "update"))
		w.settle(s)
		s.Spec.Type = corev1.ServiceTypeNodePort
		s.Spec.Ports[0].NodePort = w.freeNodePort()
		w.mustWant(true, "a node port", s)
		w.mustWant(false, "again", s)
	}
}

// freeNodePort returns the node port of a Service that is gone.
func (w *world) freeNodePort() int32 {
	w.t.Helper()
	s := serviceOf(corev1.ServicePort{Name: "p", Port: 80})
	s.Namespace, s.Name, s.Spec.Type = w.ns, "gone", corev1.ServiceTypeNodePort
	require.NoError(w.t, w.live.Create(w.ctx, s))
	require.NoError(w.t, w.live.Delete(w.ctx, s))
	return s.Spec.Ports[0].NodePort
}

// A node port that the plan itself has twice is an error about the Service, which stays.
func TestNodePortTwiceInAPlan(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	s := serviceOf(corev1.ServicePort{Name: "p", Port: 80}, corev1.ServicePort{Name: "q", Port: 90})
	s.Spec.Type = corev1.ServiceTypeNodePort
	w.mustWant(true, "create", s, recreate)
	before := w.get(s).(*corev1.Service)
	for i := range s.Spec.Ports {
		s.Spec.Ports[i].NodePort = before.Spec.Ports[0].NodePort
	}
	_, err := w.engine.For(w.owner).Object(s, recreate).Reconcile(w.ctx)
	assert.ErrorContains(t, err, "duplicate nodePort")
	assert.False(t, builder.IsTerminal(err))
	assert.Equal(t, before.UID, w.get(s).GetUID())
}

// An element that another writer applies as well stays valid when it is no longer desired: the object is never deleted.
func TestElementThatAnotherWriterAppliesToo(t *testing.T) {
	port := func(name string, port int32) corev1.ServicePort { return corev1.ServicePort{Name: name, Port: port} }
	mounts := func(mounts ...corev1.VolumeMount) client.Object {
		d := webDeployment()
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v"}, {Name: "w"}}
		d.Spec.Template.Spec.Containers[0].VolumeMounts = mounts
		return d
	}
	for name, c := range map[string]struct{ desired, theirs, then client.Object }{
		"port":  {serviceOf(port("a", 80), port("b", 81)), serviceOf(port("c", 80), port("b", 81)), serviceOf(port("b", 81))},
		"mount": {mounts(corev1.VolumeMount{Name: "v", MountPath: "/m"}), mounts(corev1.VolumeMount{Name: "w", MountPath: "/m"}), mounts()},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			recreate := builder.RecreateImmutable("")
			w.mustWant(true, "create", c.desired, recreate)
			before := w.get(c.desired).GetUID()
			require.NoError(t, w.drift(w.get(c.desired), c.theirs, "apply"))
			w.settle(c.desired)
			w.mustWant(true, "drift", c.desired, recreate)
			w.mustWant(true, "no longer desired", c.then, recreate)
			assert.Equal(t, before, w.get(c.then).GetUID())
			w.mustWant(false, "as desired", c.then, recreate)
		})
	}
}

// eventOf returns the first event of a reason.
func eventOf(told []string, reason string) string {
	for _, event := range told {
		if containsWord(event, reason) {
			return event
		}
	}
	return ""
}

// Drift that the API server lets no one undo is an error about the drift. Nothing is deleted for it, also if something
// else of the object has changed.
func TestDriftThatCannotBePutBack(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"a": "1"}}
	w.mustWant(true, "create", secret, recreate)
	before := w.get(secret).GetUID()
	w.edit(secret, func(o client.Object) {
		o.(*corev1.Secret).Data["a"], o.(*corev1.Secret).Immutable = []byte("2"), new(true)
	})
	for _, labels := range []map[string]string{nil, {"changed": "1"}} {
		secret.SetLabels(labels)
		_, _, err := w.want(secret, recreate)
		require.ErrorContains(t, err, "someone-else")
		require.NotErrorIs(t, err, builder.ErrImmutable)
		assert.Equal(t, before, w.get(secret).GetUID())
	}
}

// A Pod whose resources someone has changed in place isn't deleted for another image, which could be changed.
func TestResizedPodIsNotDeleted(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	pod := func(image string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"no": "node"},
			Containers: []corev1.Container{{Name: "c", Image: image, Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}}},
		}}
	}
	w.mustWant(true, "create", pod("a"), recreate)
	before := w.get(pod("a")).GetUID()
	w.eventually(func() bool {
		p := w.get(pod("a")).(*corev1.Pod)
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
		err := w.live.SubResource("resize").Update(w.ctx, p)
		require.True(t, err == nil || apierrors.IsConflict(err), "%v", err)
		return err == nil
	}, "resize")
	w.settle(pod("a"))
	for _, image := range []string{"a", "b"} {
		_, _, err := w.want(pod(image), recreate)
		require.ErrorContains(t, err, "someone-else")
		require.NotErrorIs(t, err, builder.ErrImmutable)
		assert.Equal(t, before, w.get(pod("a")).GetUID())
		assert.Zero(t, w.sent.count(http.MethodDelete, ""))
	}
}

// A claim with a default class is changed like any other object: what the API server chose at its creation stays.
func TestClaimOfADefaultClass(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	w.defaultClass(t)
	w.mustWant(true, "create", claim, recreate)
	before := w.get(claim).(*corev1.PersistentVolumeClaim)
	require.NotNil(t, before.Spec.StorageClassName)
	for _, label := range []string{"1", "2"} {
		claim.SetLabels(map[string]string{"changed": label})
		w.mustWant(true, "a label", claim, recreate)
		after := w.get(claim).(*corev1.PersistentVolumeClaim)
		assert.Equal(t, before.UID, after.UID)
		assert.Equal(t, before.Spec.StorageClassName, after.Spec.StorageClassName)
		w.mustWant(false, "as desired", claim, recreate)
	}
}

// Another writer's container may need a volume of the plan's. When the plan drops the volume, that mount goes, and nothing else.
func TestVolumeThatAnotherWritersContainerMounts(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	d := webDeployment()
	d.Spec.Template.Spec.Volumes = []corev1.Volume{
		{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}}, {Name: "w"},
	}
	w.mustWant(true, "create", d, recreate)
	before := w.get(d).GetUID()
	w.edit(d, func(o client.Object) {
		pod := &o.(*appsv1.Deployment).Spec.Template.Spec
		pod.Volumes[0].EmptyDir.SizeLimit = new(resource.MustParse("1Gi"))
		pod.Containers = append(pod.Containers, corev1.Container{
			Name: "theirs", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}, {Name: "w", MountPath: "/w"}},
		})
	})
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "w"}}
	w.mustWant(true, "without the volume", d, recreate)
	after := w.get(d).(*appsv1.Deployment)
	assert.Equal(t, before, after.GetUID())
	require.Len(t, after.Spec.Template.Spec.Containers, 2)
	assert.Equal(t, []corev1.VolumeMount{{Name: "w", MountPath: "/w"}}, after.Spec.Template.Spec.Containers[1].VolumeMounts)
	w.mustWant(false, "again", d, recreate)
}

// An ignored field may be in the way of a change. Then the change is refused, and the object isn't deleted, as nothing immutable changes.
func TestIgnoredFieldInTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		ignored      string
		edit, change func(*appsv1.Deployment)
	}{
		"of a union": {
			"spec.strategy.rollingUpdate",
			func(d *appsv1.Deployment) { d.Spec.Strategy.RollingUpdate.MaxSurge = new(intstr.FromInt32(3)) },
			func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType },
		},
		"beside the changed one": {
			"spec.template.spec.containers[name=web].securityContext.privileged",
			func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
			},
			func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(false)}
			},
		},
		"in an element": {
			"spec.template.spec.containers[name=theirs]",
			func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{
					Name: "theirs", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}},
				})
			},
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes = nil },
		},
	} {
		for policy, option := range map[string]builder.ChildOption{
			"recreate": builder.RecreateImmutable(""), "keep": builder.KeepImmutable(),
		} {
			t.Run(name+"/"+policy, func(t *testing.T) {
				w := newWorld(t)
				options := []builder.ChildOption{option, builder.Ignore(c.ignored)}
				d := webDeployment()
				d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
				d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v"}}
				w.mustWant(true, "create", d, options...)
				w.edit(d, func(o client.Object) { c.edit(o.(*appsv1.Deployment)) })
				before := w.get(d).(*appsv1.Deployment)
				c.change(d)
				var err error
				w.eventually(func() bool { // the Deployment controller writes the status meanwhile
					_, err = w.engine.For(w.owner).Object(d, options...).Reconcile(w.ctx)
					return !apierrors.IsConflict(err)
				}, "no conflict")
				require.ErrorContains(t, err, c.ignored)
				assert.NotErrorIs(t, err, builder.ErrImmutable)
				after := w.get(d).(*appsv1.Deployment)
				assert.Equal(t, before.UID, after.UID)
				assert.Equal(t, before.Spec, after.Spec)
			})
		}
	}
}
