package builder_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// immutableCase is a change that the API server refuses, the fields that the error names, and one that is invalid
// altogether.
type immutableCase struct {
	wanted  client.Object
	change  func(client.Object)
	fields  []string
	says    string
	invalid func(client.Object)
}

func immutable[T client.Object](wanted T, change func(T), fields []string, says string, invalid func(T)) immutableCase {
	return immutableCase{
		wanted: wanted, fields: fields, says: says,
		change:  func(o client.Object) { change(o.(T)) },
		invalid: func(o client.Object) { invalid(o.(T)) },
	}
}

func claimOf(name, size string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}
}

func idlePod() corev1.PodTemplateSpec {
	pod := webPod()
	pod.Spec.NodeSelector = map[string]string{"none": "such"}
	return pod
}

func statefulSet() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
		Selector: webLabels(), Template: idlePod(), ServiceName: "web", Replicas: ptr.To[int32](0),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claimOf("data", "1Gi")},
	}}
}

func service() *corev1.Service {
	return &corev1.Service{Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
}

func labelled(pod corev1.PodTemplateSpec, name, value string) corev1.PodTemplateSpec {
	pod = *pod.DeepCopy()
	pod.Labels[name] = value
	return pod
}

func negativeReplicas(replicas **int32) { *replicas = ptr.To[int32](-1) }

var immutableCases = map[string]immutableCase{
	"Job template": immutable(
		&batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(true), Template: onceOnly(idlePod())}},
		func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Image = "other" },
		[]string{"spec.template.spec.containers[name=web].image"}, `spec.template.spec.containers[name=web].image (is "nginx", desired "other")`,
		func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](-1) }),
	"StatefulSet volumeClaimTemplates": immutable(statefulSet(),
		func(s *appsv1.StatefulSet) { s.Spec.VolumeClaimTemplates[0] = claimOf("data", "2Gi") },
		[]string{"spec.volumeClaimTemplates"}, "spec.volumeClaimTemplates",
		func(s *appsv1.StatefulSet) { negativeReplicas(&s.Spec.Replicas) }),
	"StatefulSet serviceName": immutable(statefulSet(),
		func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "other" },
		[]string{"spec.serviceName"}, `spec.serviceName (is "web", desired "other")`,
		func(s *appsv1.StatefulSet) { negativeReplicas(&s.Spec.Replicas) }),
	"StatefulSet selector": immutable(statefulSet(),
		func(s *appsv1.StatefulSet) {
			s.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
			s.Spec.Template.Labels = s.Spec.Selector.MatchLabels
		},
		[]string{"spec.selector.matchLabels.app"}, `spec.selector.matchLabels.app (is "web", desired "other")`,
		func(s *appsv1.StatefulSet) { negativeReplicas(&s.Spec.Replicas) }),
	"Deployment selector": immutable(
		&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: webLabels(), Template: idlePod(), Replicas: ptr.To[int32](0)}},
		func(d *appsv1.Deployment) {
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
			d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
		},
		[]string{"spec.selector.matchLabels.app"}, `spec.selector.matchLabels.app (is "web", desired "other")`,
		func(d *appsv1.Deployment) { negativeReplicas(&d.Spec.Replicas) }),
	"one of two labels of a selector": immutable(
		&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}},
			Template: labelled(idlePod(), "tier", "front"), Replicas: ptr.To[int32](0),
		}},
		func(r *appsv1.ReplicaSet) {
			r.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "back"}}
			r.Spec.Template = labelled(r.Spec.Template, "tier", "back")
		},
		[]string{"spec.selector.matchLabels.tier"}, `spec.selector.matchLabels.tier (is "front", desired "back")`,
		func(r *appsv1.ReplicaSet) { negativeReplicas(&r.Spec.Replicas) }),
	"RoleBinding roleRef": immutable(
		&rbacv1.RoleBinding{
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "one"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "s"}},
		},
		func(b *rbacv1.RoleBinding) { b.RoleRef.Name = "other" },
		[]string{"roleRef.name"}, `roleRef.name (is "one", desired "other")`,
		func(b *rbacv1.RoleBinding) { b.Subjects[0].Name = "" }),
	"Service clusterIP": immutable(service(),
		func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone },
		[]string{"spec.clusterIPs[0]"}, "spec.clusterIPs[0]",
		func(s *corev1.Service) { s.Spec.Ports[0].Port = -1 }),
	"Secret type": immutable(
		&corev1.Secret{StringData: map[string]string{"a": "1"}},
		func(s *corev1.Secret) { s.Type = "example.com/other" },
		[]string{"type"}, "type",
		func(s *corev1.Secret) { s.Data = map[string][]byte{"not/a/key": nil} }),
	"immutable Secret": immutable(
		&corev1.Secret{StringData: map[string]string{"a": "sesame"}, Immutable: new(true)},
		func(s *corev1.Secret) { s.StringData["a"] = "2" },
		[]string{"data.a"}, "data.a;",
		func(s *corev1.Secret) { s.Data = map[string][]byte{"not/a/key": nil} }),
	"immutable ConfigMap": immutable(
		&corev1.ConfigMap{Data: map[string]string{"a": "1"}, Immutable: new(true)},
		func(c *corev1.ConfigMap) { c.Data["a"] = "2" },
		[]string{"data.a"}, `data.a (is "1", desired "2")`,
		func(c *corev1.ConfigMap) { c.Data["not/a/key"] = "" }),
	"resources of a Pod": immutable(
		&corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{"none": "such"}, Containers: idlePod().Spec.Containers[:1]}},
		func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		},
		[]string{"spec.containers[name=web].resources.requests.cpu"}, `spec.containers[name=web].resources.requests.cpu (is "1", desired "2")`,
		func(p *corev1.Pod) { p.Spec.Containers[0].Name = "" }),
	"size of a claim": immutable(new(claimOf("", "2Gi")),
		func(c *corev1.PersistentVolumeClaim) { *c = claimOf(c.Name, "1Gi") },
		[]string{"spec.resources.requests.storage"}, `spec.resources.requests.storage (is "2Gi", desired "1Gi")`,
		func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = nil }),
	"PersistentVolumeClaim": immutable(new(claimOf("", "1Gi")),
		func(c *corev1.PersistentVolumeClaim) {
			c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
		},
		[]string{"spec.accessModes"}, "spec.accessModes",
		func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = nil }),
}

func TestImmutableFields(t *testing.T) {
	for name, c := range immutableCases {
		t.Run(name, func(t *testing.T) {
			child := func(changes ...func(client.Object)) client.Object {
				obj := c.wanted.DeepCopyObject().(client.Object)
				obj.SetName("child")
				for _, change := range changes {
					change(obj)
				}
				return obj
			}
			t.Run("Fail", func(t *testing.T) {
				w := newWorld(t, c.wanted)
				w.mustWant(true, "create", child())
				before := w.get(child())
				w.told.take()
				for range 2 {
					_, _, err := w.want(child(c.change))
					require.ErrorIs(t, err, builder.ErrImmutable)
					assert.True(t, builder.IsTerminal(err))
					assert.True(t, apierrors.IsInvalid(err))
					assert.ErrorContains(t, err, w.ns+"/child: can't be changed once it exists: ")
					assert.ErrorContains(t, err, c.says)
					assert.NotContains(t, err.Error(), "sesame")
					var about *builder.Error
					require.ErrorAs(t, err, &about)
					assert.Equal(t, c.fields, about.Fields(), "%v", err)
				}
				told := w.told.take()
				require.Len(t, told, 1, "told once")
				assert.Contains(t, told[0], "Warning ApplyFailed Apply: apply ")
				assert.Equal(t, before.GetUID(), w.get(child()).GetUID())
				assert.Equal(t, before.GetGeneration(), w.get(child()).GetGeneration())
			})
			t.Run("Keep", func(t *testing.T) {
				w := newWorld(t, c.wanted)
				keep := builder.KeepImmutable()
				w.mustWant(true, "create", child(), keep)
				before := w.get(child())
				w.told.take()
				w.eventually(func() bool { // a controller may write at the same time
					res, sent, err := w.want(child(c.change), keep)
					return err == nil && len(res.Changes) == 0 && len(sent) > 0
				}, "kept")
				for range 2 {
					w.mustWant(false, "remembered", child(c.change), keep)
					w.edit(child(), func(o client.Object) { o.SetLabels(map[string]string{"theirs": "1"}) })
				}
				told := w.told.take()
				require.Len(t, told, 1, "%v", told)
				assert.Contains(t, told[0], "Normal Kept Apply: Kept ")
				assert.Equal(t, before.GetUID(), w.get(child()).GetUID())
				w.mustWant(true, "what can be is wanted again", child(), keep)
			})
			t.Run("Recreate", func(t *testing.T) {
				w := newWorld(t, c.wanted)
				recreate := builder.RecreateImmutable("")
				w.mustWant(true, "create", child(), recreate)
				before := w.get(child()).GetUID()

				_, _, err := w.want(child(c.invalid), recreate)
				require.Error(t, err, "invalid altogether")
				assert.True(t, builder.IsTerminal(err), "%v", err)
				require.NotErrorIs(t, err, builder.ErrImmutable)
				_, _, err = w.want(child(c.change, c.invalid), recreate)
				require.Error(t, err, "both")
				assert.True(t, builder.IsTerminal(err), "%v", err)
				assert.Equal(t, before, w.get(child()).GetUID(), "nothing is deleted")
				assert.Zero(t, w.sent.count(http.MethodDelete, ""))
				w.told.take()

				var res builder.Result
				w.eventually(func() bool {
					res, _, err = w.want(child(c.change), recreate)
					return err == nil
				}, "deleted")
				require.Len(t, res.Changes, 1)
				assert.Equal(t, events.ReasonRecreating, res.Changes[0].Reason)
				require.Len(t, pending(res, events.ReasonWaiting), 1)
				assert.NotZero(t, res.RequeueAfter)
				w.eventually(func() bool {
					res, _, err := w.want(child(c.change), recreate)
					require.NoError(t, err)
					return len(res.Changes) > 0
				}, "created anew")
				assert.NotEqual(t, before, w.get(child()).GetUID())
				w.mustWant(false, "as wanted", child(c.change), recreate)
				told := w.told.take()
				require.Len(t, told, 2)
				assert.Contains(t, told[0], "Normal Recreating Apply: Recreating ")
				assert.Contains(t, told[1], "Normal Created Apply: Created ")
				assert.Empty(t, w.probes(), "no trial is stored")
			})
		})
	}
}

// peek reads an object past the cache, or returns nil.
func (w *world) peek(like client.Object) client.Object {
	obj := like.DeepCopyObject().(client.Object)
	if err := w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: like.GetName()}, obj); err != nil {
		return nil
	}
	return obj
}

// probes lists what trials have left behind.
func (w *world) probes() []string {
	var names []string
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{}, &appsv1.DeploymentList{}, &appsv1.StatefulSetList{}, &batchv1.JobList{}} {
		require.NoError(w.t, w.live.List(w.ctx, list, client.InNamespace(w.ns)))
		names = append(names, namesOf(list, "-probe-")...)
	}
	return names
}

func TestRecreateByPropagation(t *testing.T) {
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground} {
		t.Run(string(propagation), func(t *testing.T) {
			w := newWorld(t, &appsv1.Deployment{})
			wanted := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{Selector: webLabels(), Template: idlePod()}}
			w.mustWant(true, "create", wanted)
			sets := func() []appsv1.ReplicaSet {
				list := &appsv1.ReplicaSetList{}
				require.NoError(t, w.live.List(w.ctx, list, client.InNamespace(w.ns), client.MatchingLabels{"app": "web"}))
				return list.Items
			}
			w.eventually(func() bool { return len(sets()) == 1 }, "the Deployment's ReplicaSet")
			old := sets()[0].UID
			wanted.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
			wanted.Spec.Template.Labels = map[string]string{"app": "other"}
			w.eventually(func() bool {
				_, _, err := w.want(wanted, builder.RecreateImmutable(propagation))
				got := w.peek(wanted)
				return err == nil && got != nil && got.(*appsv1.Deployment).Spec.Selector.MatchLabels["app"] == "other"
			}, "recreated")
			if propagation == metav1.DeletePropagationForeground {
				assert.Empty(t, sets(), "gone before the new one was made")
				return
			}
			require.Len(t, sets(), 1)
			assert.Equal(t, old, sets()[0].UID, "left running")
		})
	}
}

func TestRecreateHeldServices(t *testing.T) {
	recreate := builder.RecreateImmutable("")
	for name, form := range map[string]func(*corev1.Service) client.Object{
		"typed":        func(s *corev1.Service) client.Object { return s },
		"unstructured": func(s *corev1.Service) client.Object { return asUntyped(t, s, "v1", "Service") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, form(service()))
			given := func(name string) *corev1.Service {
				s := service()
				s.Name, s.Spec.Type = name, corev1.ServiceTypeNodePort
				return s
			}
			free := w.made(given("free"), "someone").(*corev1.Service)
			taken := w.made(given("taken"), "someone").(*corev1.Service)
			wanted := given("s")
			w.mustWant(true, "create", form(wanted))
			live := w.get(given("s")).(*corev1.Service)
			require.NoError(t, w.live.Delete(w.ctx, free)) // now there is an address that no one has

			// What it has already, said out loud.
			wanted.Spec.ClusterIP, wanted.Spec.Ports[0].NodePort = live.Spec.ClusterIP, live.Spec.Ports[0].NodePort
			w.mustWant(true, "what it has", form(wanted), recreate)
			require.Equal(t, live.UID, w.get(form(wanted)).GetUID())

			wanted.Spec.ClusterIP, wanted.Spec.Ports[0].NodePort = free.Spec.ClusterIP, taken.Spec.Ports[0].NodePort
			_, _, err := w.want(form(wanted), recreate)
			require.Error(t, err, "someone else has that port: it could not be created")
			require.NotErrorIs(t, err, builder.ErrImmutable)
			require.Equal(t, live.UID, w.get(form(wanted)).GetUID(), "so it isn't deleted")

			wanted.Spec.Ports[0].NodePort = live.Spec.Ports[0].NodePort
			w.eventually(func() bool {
				_, _, err := w.want(form(wanted), recreate)
				got := w.peek(given("s"))
				return err == nil && got != nil && got.GetUID() != live.UID
			}, "another address")
			got := w.get(given("s")).(*corev1.Service)
			assert.Equal(t, free.Spec.ClusterIP, got.Spec.ClusterIP)
			assert.Equal(t, live.Spec.Ports[0].NodePort, got.Spec.Ports[0].NodePort)
		})
	}
}

func TestRecreateYieldsToAWriterInBetween(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "1"}, Immutable: new(true)}
	w.mustWant(true, "create", wanted)
	wanted.Labels = map[string]string{"ours": "1"}
	w.mustWant(true, "claimed", wanted)
	before := w.get(wanted)
	w.edit(wanted, func(o client.Object) { o.SetLabels(map[string]string{"theirs": "1"}) })
	stale := builder.NewEngine(staleReads{w.cached, before}, builder.Options{Name: "tester", Reader: w.live})
	wanted.Data["a"] = "2"
	_, err := stale.For(w.owner).Object(wanted, builder.RecreateImmutable("")).Reconcile(w.ctx)
	require.True(t, apierrors.IsConflict(leaf(err)), "%v", err)
	assert.Equal(t, before.GetUID(), w.get(wanted).GetUID())
}

func TestTrialThatCannotBeMade(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{}, &corev1.Secret{})
	wanted := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"a": "1"}, Immutable: new(true)}
	w.mustWant(true, "create", wanted)
	before := w.get(wanted).GetUID()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "few"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("1")}},
	}
	require.NoError(t, w.live.Create(w.ctx, quota))
	w.eventually(func() bool {
		q := w.get(quota).(*corev1.ResourceQuota)
		used := q.Status.Used["count/secrets"]
		return used.Value() == 1
	}, "the quota controller")
	wanted.StringData["a"] = "2"
	_, _, err := w.want(wanted, builder.RecreateImmutable(""))
	require.ErrorContains(t, err, "exceeded quota")
	require.ErrorContains(t, err, "field is immutable")
	assert.False(t, builder.IsTerminal(err), "there may be room another time")
	assert.Equal(t, before, w.get(wanted).GetUID())
	_, _, err = w.want(wanted)
	require.ErrorContains(t, err, "field is immutable")
	assert.True(t, builder.IsTerminal(err))
	require.NoError(t, w.live.Delete(w.ctx, quota))
	w.eventually(func() bool {
		_, _, err := w.want(wanted, builder.RecreateImmutable(""))
		got := w.peek(wanted)
		return err == nil && got != nil && got.GetUID() != before
	}, "recreated")
}

func namesOf(list client.ObjectList, part string) []string {
	var names []string
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		if name := o.(client.Object).GetName(); strings.Contains(name, part) {
			names = append(names, name)
		}
		return nil
	})
	return names
}
