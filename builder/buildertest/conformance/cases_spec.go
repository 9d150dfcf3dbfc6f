package conformance

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func withPhase(j *batchv1.Job) *batchv1.Job {
	j.Status.Active = 3
	return j
}

func generation(s *session) {
	objs := []client.Object{
		deployment("web"), job("once"), cronJob("cron"), budget("budget"),
		networkPolicy("policy"), configMap("settings"), service("svc"), daemonSet("daemon"),
	}
	for _, obj := range objs {
		s.note(obj.GetName()+" at first", s.given(obj).GetGeneration())
		s.note("after a label", s.patched(obj, `{"metadata":{"labels":{"a":"b"}}}`))
		s.note("after an annotation", s.patched(obj, `{"metadata":{"annotations":{"a":"b"}}}`))
	}
	s.note("after a change of the spec", s.patched(objs[0], `{"spec":{"minReadySeconds":5}}`))
	s.note("after the same again", s.patched(objs[0], `{"spec":{"minReadySeconds":5}}`))
	s.note("of a job", s.patched(objs[1], `{"spec":{"parallelism":2}}`))
	s.note("of a budget", s.patched(objs[3], `{"spec":{"minAvailable":2}}`))
	s.note("of data", s.patched(objs[5], `{"data":{"a":"b"}}`))
	s.note("of a service", s.patched(objs[6], `{"spec":{"sessionAffinity":"ClientIP"}}`))
	s.note("of a daemon set's template", s.patched(objs[7], `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`))
}

// patched returns the generation after a merge patch.
func (s *session) patched(obj client.Object, body string) int64 {
	s.t.Helper()
	now := like(obj)
	if err := s.client.Patch(s.ctx, now, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		s.t.Fatal(err)
	}
	return now.GetGeneration()
}

func status(s *session) {
	s.keepStatus = true
	obj := s.create("a status given at creation", withPhase(job("one"))).(*batchv1.Job)
	obj.Status.Active = 2
	obj.Spec.Parallelism = ptr.To[int32](9)
	err := s.client.Status().Update(s.ctx, obj)
	s.did("a status update leaves the spec", obj, err)
	obj.Status.Active = 7
	obj.Spec.Parallelism = ptr.To[int32](3)
	s.update("an update leaves the status", obj)
	s.patch("a patch leaves the status", obj, types.MergePatchType, `{"status":{"active":8},"spec":{"parallelism":4}}`)
	patched := like(obj)
	err = s.client.Status().Patch(s.ctx, patched,
		client.RawPatch(types.MergePatchType, []byte(`{"status":{"active":1},"spec":{"parallelism":5}}`)))
	s.did("a status patch leaves the spec", patched, err)
	stale := copyOf(obj)
	stale.ResourceVersion = "1"
	s.did("a stale status update", nil, s.client.Status().Update(s.ctx, stale))
	missing := job("missing")
	missing.Namespace = s.namespace
	s.did("a status of nothing", nil, s.client.Status().Patch(s.ctx, missing, client.RawPatch(types.MergePatchType, []byte(`{}`))))
	s.keepsVersion("a status that is the same", obj, func(now client.Object) error { return s.client.Status().Update(s.ctx, now) })
}

func invalid(s *session) {
	negative := deployment("negative")
	negative.Spec.Replicas = ptr.To[int32](-1)
	s.create("negative replicas", negative)
	s.create("deployment with nothing", &appsv1.Deployment{ObjectMeta: meta("nothing")})
	strange := deployment("strange")
	strange.Spec.Template.Labels = map[string]string{"app": "other"}
	s.create("selector that does not match", strange)
	nameless := deployment("nameless")
	nameless.Spec.Template.Spec.Containers = []corev1.Container{
		{}, {Name: "a", Image: "i"}, {Name: "a", Image: "i"}, {Name: "A_b", Image: "i"},
	}
	s.create("bad containers", nameless)
	never := deployment("never")
	never.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	s.create("deployment that never restarts", never)
	always := job("always")
	always.Spec.Template.Spec.RestartPolicy = ""
	s.create("job that always restarts", always)
	less := job("less")
	less.Spec.Parallelism, less.Spec.BackoffLimit = ptr.To[int32](-1), ptr.To[int32](-2)
	s.create("negative parallelism", less)
	negativeSet := statefulSet("negative")
	negativeSet.Spec.Replicas = ptr.To[int32](-1)
	s.create("negative stateful set", negativeSet)
	portless := service("portless")
	portless.Spec.Ports = nil
	s.create("service without ports", portless)
	high := service("high")
	high.Spec.Ports[0].Port = 70000
	s.create("service with a port that is none", high)
	twin := service("twin")
	twin.Spec.Ports = append(twin.Spec.Ports, corev1.ServicePort{Port: 81})
	s.create("service with nameless ports", twin)
	keyed := configMap("keyed")
	keyed.Data = map[string]string{"a/b": "c"}
	s.create("config map with a key that is none", keyed)
	cron := cronJob("cron")
	cron.Spec.Schedule = ""
	s.create("cron job without a schedule", cron)
	both := budget("both")
	both.Spec.MinAvailable, both.Spec.MaxUnavailable = new(intstr.FromInt32(-1)), nil
	s.create("negative budget", both)

	good := s.given(deployment("good"))
	s.patch("negative replicas later", good, types.MergePatchType, `{"spec":{"replicas":-1}}`)
	s.read("and nothing has happened", good)
}

func immutable(s *session) {
	change := func(name string, obj client.Object, body string) {
		s.given(obj)
		s.patch(name, obj, types.MergePatchType, body)
	}
	change("job template", job("template"), `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"other"}]}}}}`)
	change("job completions", job("completions"), `{"spec":{"completions":5}}`)
	change("job parallelism can change", job("parallelism"), `{"spec":{"parallelism":5}}`)
	change("job selector", job("selector"), `{"spec":{"selector":{"matchLabels":{"x":"y"}}}}`)
	suspended := job("suspended")
	suspended.Spec.Suspend = new(true)
	change("suspended job's node selector can change", suspended, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`)
	change("deployment selector", deployment("web"),
		`{"spec":{"selector":{"matchLabels":{"app":"web","x":"y"}},"template":{"metadata":{"labels":{"x":"y"}}}}}`)
	change("daemon set selector", daemonSet("daemon"),
		`{"spec":{"selector":{"matchLabels":{"app":"web","x":"y"}},"template":{"metadata":{"labels":{"x":"y"}}}}}`)
	change("stateful set service", statefulSet("service"), `{"spec":{"serviceName":"other"}}`)
	change("stateful set claims", statefulSet("claims"), `{"spec":{"volumeClaimTemplates":null}}`)
	change("stateful set policy", statefulSet("policy"), `{"spec":{"podManagementPolicy":"Parallel"}}`)
	change("service address", service("address"), `{"spec":{"clusterIP":"10.96.200.200"}}`)
	change("service without an address", service("unset"), `{"spec":{"clusterIP":"None"}}`)
	change("pod", pod("pod"), `{"spec":{"nodeSelector":{"a":"b"}}}`)
	s.patch("pod image can change", s.given(pod("image")), types.StrategicMergePatchType,
		`{"spec":{"containers":[{"name":"main","image":"other"}]}}`)
	change("claim", claim("claim"), `{"spec":{"accessModes":["ReadWriteMany"]}}`)
	change("claim's size", claim("size"), `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
	change("role binding", roleBinding("binding"), `{"roleRef":{"name":"edit"}}`)
	change("secret type", &corev1.Secret{ObjectMeta: meta("typed")}, `{"type":"example.com/other"}`)

	sealed := configMap("sealed")
	sealed.Immutable = new(true)
	change("sealed config map", sealed, `{"data":{"a":"x"},"binaryData":{"c":"AA=="}}`)
	s.patch("unsealing", sealed, types.MergePatchType, `{"immutable":null}`)
	s.patch("sealed config map's labels can change", sealed, types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`)
	secret := &corev1.Secret{ObjectMeta: meta("sealed"), StringData: map[string]string{"a": "1"}, Immutable: new(true)}
	change("sealed secret", secret, `{"data":{"a":"AA=="}}`)

	owned := s.given(&policyv1.PodDisruptionBudget{ObjectMeta: meta("meta"), Spec: budget("").Spec})
	s.patch("two controllers", owned, types.MergePatchType, `{"metadata":{"ownerReferences":[
		{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"1","controller":true},
		{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":"2","controller":true}]}}`)
	s.patch("an owner without a uid", owned, types.MergePatchType,
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a"}]}}`)
}
