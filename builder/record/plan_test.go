package record_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

func flowScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(s))
	require.NoError(t, v1alpha1.AddToScheme(s))
	return s
}

// aFlow is an owner with a status.
func aFlow() *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "flow"}}
}

// ofFlow is the metadata of a child.
func ofFlow(name string) metav1.ObjectMeta {
	controller := *metav1.NewControllerRef(aFlow(), v1alpha1.GroupVersion.WithKind("JobFlow"))
	return metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{controller}}
}

var somePod = corev1.PodTemplateSpec{
	ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
	Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
}

// rich is an operator whose plan uses all that a plan has.
func rich() *builder.Operator[*v1alpha1.JobFlow] {
	return builder.NewOperator[*v1alpha1.JobFlow](nil, "rich").
		Owns(&corev1.ConfigMap{}).Owns(&corev1.ConfigMap{}, builder.CrossNamespace()).
		Owns(&corev1.Secret{}).Owns(&batchv1.Job{}).Owns(&appsv1.StatefulSet{}).
		Owns(&appsv1.ControllerRevision{}).
		Plan(func(owner *v1alpha1.JobFlow, view builder.View) builder.Plan[*v1alpha1.JobFlow] {
			config := func(namespace, name string, opts ...builder.ChildOption) builder.Child {
				return builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, opts...)
			}
			once := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "migrate"}, Spec: batchv1.JobSpec{Template: somePod}}
			after := owner.DeepCopy()
			after.Status.Conditions = []metav1.Condition{{
				Type: "Ready", Status: metav1.ConditionFalse, Reason: "Planned", LastTransitionTime: metav1.NewTime(view.Now),
			}}
			plan := builder.Plan[*v1alpha1.JobFlow]{
				Children: []builder.Child{
					builder.Want(once, builder.InPhase("schema"), builder.RunOnce("v1")),
					config("", "app", builder.InPhase("app"), builder.Ignore("data.size")),
					config("", "kept", builder.Retain(), builder.KeepImmutable()),
					config("", "adopted", builder.Adopt(builder.AdoptOptions{
						Labels: map[string]string{"app": "web"}, FormerManagers: []string{"helm"}, OwnedOnly: true,
					})),
					config("", "ruled", builder.RecreateImmutable(""), builder.ReadyWhen(func(client.Object) readiness.Status {
						return readiness.Status{Ready: true}
					})),
					config("shared", "far", builder.CrossNamespace(), builder.RecreateImmutable(metav1.DeletePropagationForeground)),
				},
				Prune:         []client.Object{&corev1.Secret{}},
				Rollout:       rollout.Options{Phases: []string{"schema", "app"}, AlertAfter: time.Minute},
				Status:        after,
				StatusCanWait: time.Second,
				WaitingFor:    []string{"Secret default/tls"},
				Report:        true,
				Finish:        func(*v1alpha1.JobFlow, builder.Result) {},
				Events:        []events.Event{{Type: "Normal", Reason: "Planned", Action: "Plan", Note: "a note", Related: aFlow()}},
				RequeueAfter:  time.Hour,
			}
			for _, job := range builder.Owned[*batchv1.Job](view) {
				switch job.Name {
				case "edited":
					changed := job.DeepCopy()
					changed.Spec.Suspend = new(true)
					plan.Edits = append(plan.Edits, builder.Edit{Before: job, After: changed})
				case "deleted":
					plan.Delete = append(plan.Delete, job)
				}
			}
			for _, set := range builder.Owned[*appsv1.StatefulSet](view) {
				plan.Edits = append(plan.Edits, builder.Edit{Before: set, Replicas: ptr.To[int32](3)})
			}
			for _, secret := range builder.Owned[*corev1.Secret](view) {
				changed := secret.DeepCopy()
				changed.Data["password"] = []byte("new-password")
				plan.Edits = append(plan.Edits, builder.Edit{Before: secret, After: changed})
			}
			return plan
		})
}

// runRich runs the operator with children of earlier passes.
func runRich(t *testing.T) *harness {
	t.Helper()
	job := func(name string) client.Object {
		return &batchv1.Job{ObjectMeta: ofFlow(name), Spec: batchv1.JobSpec{Template: somePod}}
	}
	always := *somePod.DeepCopy()
	always.Spec.RestartPolicy = corev1.RestartPolicyAlways
	server := buildertest.NewServer(flowScheme(t), buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}), buildertest.WithObjects(
		aFlow(), job("edited"), job("deleted"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shared"}},
		&appsv1.StatefulSet{ObjectMeta: ofFlow("db"), Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: somePod.Labels}, Template: always,
		}},
		&corev1.Secret{ObjectMeta: ofFlow("login"), Data: map[string][]byte{"password": []byte("old-password")}},
	))
	h := &harness{t: t, client: recorded{server.Client(t.Name()), record.NewRecorder(1 << 20)}, owner: aFlow()}
	var err error
	h.reconciler, err = buildertest.NewReconciler(rich(), h.client, h.client.Now)
	require.NoError(t, err)
	return h
}

// A record has all of a plan, and a replay of it finds the same.
func TestAWholePlanIsRecorded(t *testing.T) {
	h := runRich(t)
	require.NoError(t, h.pass())
	list, err := h.client.recorder.Passes(record.Owner{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	var file bytes.Buffer
	require.NoError(t, list.Write(&file))
	assert.NotContains(t, file.String(), "password-", "neither the old one nor the new")
	list, err = record.Read(&file)
	require.NoError(t, err)
	pass := &list.Items[0]
	require.Empty(t, pass.Error)

	replayed, err := record.Replay(rich(), flowScheme(t), pass)
	require.NoError(t, err)
	assert.Empty(t, replayed.Differences)

	var out strings.Builder
	require.NoError(t, list.WriteText(&out))
	_, text, _ := strings.Cut(out.String(), "\n")
	text, _, _ = strings.Cut(text, "    request: ")
	assert.Equal(t, `  view
    owned StatefulSet.apps default/db
    owned Job.batch default/deleted
    owned Job.batch default/edited
    owned Secret default/login
  plan
    child Job.batch migrate in phase schema
    child ConfigMap app in phase app
    child ConfigMap kept
    child ConfigMap adopted
    child ConfigMap ruled
    child ConfigMap shared/far
    edit Job.batch default/edited
    edit StatefulSet.apps default/db
    edit Secret default/login
    delete Job.batch default/deleted
    prune Secret
    wait for Secret default/tls
    event Planned a note
    status
    next pass after 1h0m0s
  decision
    Created ConfigMap default/adopted
    Created ConfigMap default/kept
    Created ConfigMap default/ruled
    Created ConfigMap shared/far
    Created Job.batch default/migrate-a7bd9c0dbc
    Updated Secret default/login
    Updated Job.batch default/edited
    Deleted Job.batch default/deleted
`, text)

	for i := range pass.Plan.Children {
		pass.Plan.Children[i].Object = nil
	}
	assert.Equal(t, &record.Plan{
		Children: []record.Child{
			{Phase: "schema", RunOnce: "v1"},
			{Phase: "app", Ignored: []string{"data.size"}},
			{Retain: true, KeepImmutable: true},
			{Adopt: &record.Adopt{Labels: map[string]string{"app": "web"}, FormerManagers: []string{"helm"}, OwnedOnly: true}},
			{RecreateImmutable: "Background", ReadyWhen: true},
			{RecreateImmutable: "Foreground", CrossNamespace: true},
		},
		Prune: []string{"Secret"},
		Edits: []record.Edit{
			{Object: "Job.batch default/edited", Fields: map[string]any{"spec.suspend": true}},
			{Object: "StatefulSet.apps default/db", Replicas: ptr.To[int32](3)},
			{Object: "Secret default/login", Fields: map[string]any{"data.password": ""}},
		},
		Delete:  []string{"Job.batch default/deleted"},
		Rollout: &record.Rollout{Phases: []string{"schema", "app"}, AlertAfter: time.Minute},
		Status: map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": "False", "reason": "Planned", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
		}}},
		StatusCanWait: time.Second, Report: true, WaitingFor: []string{"Secret default/tls"}, Finish: true, RequeueAfter: time.Hour,
		Events: []record.Event{{
			Type: "Normal", Reason: "Planned", Action: "Plan", Note: "a note", Related: "JobFlow.api.practice.com default/web",
		}},
	}, pass.Plan)
}
