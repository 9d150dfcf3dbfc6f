package record_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/record"
)

// recorded is a client whose operator has a recorder.
type recorded struct {
	*buildertest.Client
	recorder *record.Recorder
}

func (r recorded) FlightRecorder() flight.Recorder { return r.recorder }

// harness runs an operator with a recorder on a server in memory.
type harness struct {
	t          *testing.T
	client     recorded
	reconciler reconcile.Reconciler
	owner      client.Object
}

func run[T client.Object](t *testing.T, operator *builder.Operator[T], bytes int, owner client.Object, objs ...client.Object) *harness {
	t.Helper()
	server := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(append(objs, owner)...))
	h := &harness{t: t, client: recorded{server.Client(t.Name()), record.NewRecorder(bytes)}, owner: owner}
	var err error
	h.reconciler, err = buildertest.NewReconciler(operator, h.client, h.client.Now)
	require.NoError(t, err)
	return h
}

// pass runs one pass and returns its error.
func (h *harness) pass() error {
	_, err := h.reconciler.Reconcile(h.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(h.owner)})
	return err
}

// passes returns what the recorder has.
func (h *harness) passes() []record.Pass {
	h.t.Helper()
	list, err := h.client.recorder.Passes(record.Owner{})
	require.NoError(h.t, err)
	return list.Items
}

// configured is an operator whose owner, a ConfigMap, names a Secret; the child has what a plan can copy of it.
func configured(change func(*corev1.ConfigMap)) *builder.Operator[*corev1.ConfigMap] {
	return builder.NewOperator[*corev1.ConfigMap](nil, "configured").
		Owns(&corev1.Pod{}).Owns(&corev1.Secret{}).
		Watches(&corev1.Secret{}, builder.ReferencedBy(func(owner client.Object) []string { return []string{"password"} })).
		Plan(func(owner *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
			owner = owner.DeepCopy()
			if change != nil {
				change(owner)
			}
			var password string
			for _, s := range builder.Watched[*corev1.Secret](view) {
				password = string(s.Data["password"])
			}
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: owner.Name, Annotations: map[string]string{"url": "https://me:" + password + "@host"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "main", Image: owner.Data["image"], Env: []corev1.EnvVar{{Name: "PASSWORD", Value: password}},
				}}},
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: owner.Name}, StringData: map[string]string{"copy": password}}
			return builder.Plan[*corev1.ConfigMap]{
				Children:     []builder.Child{builder.Want(pod, builder.CreateOnly()), builder.Want(secret, builder.CreateOnly())},
				RequeueAfter: time.Minute,
			}
		})
}

func theOwner() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Data: map[string]string{"image": "web:1"}}
}

func thePassword(value string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "password", Annotations: map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": value,
		}},
		Data: map[string][]byte{"password": []byte(value)},
	}
}
