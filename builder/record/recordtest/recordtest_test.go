package recordtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/builder/record/recordtest"
)

// copies is an operator that makes a ConfigMap with what a function returns.
func copies(value func() string) *builder.Operator[*corev1.ConfigMap] {
	return builder.NewOperator[*corev1.ConfigMap](nil, "copies").
		Owns(&corev1.ConfigMap{}).
		Plan(func(owner *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
			child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: owner.Name + "-copy"}, Data: map[string]string{"value": value()}}
			return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(child)}}
		})
}

// passes runs a pass of an operator, and returns its recorder.
func passes(t *testing.T, operator *builder.Operator[*corev1.ConfigMap]) *record.Recorder {
	t.Helper()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	c := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(owner)).Client("copies")
	recorder := record.NewRecorder(1 << 20)
	r, err := buildertest.NewReconciler(operator, recordtest.Client{Client: c, Recorder: recorder}, c.Now)
	require.NoError(t, err)
	_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
	return recorder
}

// failing is a test that records how it fails.
type failing struct {
	testing.TB
	errors []string
}

func (f *failing) Helper() {}

func (f *failing) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *failing) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(f)
}

func (f *failing) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

// failuresOf returns the errors of a replay.
func failuresOf(
	t *testing.T, recorder *record.Recorder, operator *builder.Operator[*corev1.ConfigMap], scheme *runtime.Scheme,
) []string {
	f := &failing{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(f) {
				panic(p)
			}
		}()
		recordtest.Replay(f, recorder, operator, scheme)
	}()
	return f.errors
}

func TestReplay(t *testing.T) {
	same := copies(func() string { return "same" })
	assert.Equal(t, 1, recordtest.Replay(t, passes(t, same), same, clientgoscheme.Scheme))

	value := "before"
	changes := copies(func() string { return value })
	recorder := passes(t, changes)
	value = "after"
	failures := failuresOf(t, recorder, changes, clientgoscheme.Scheme)
	const differs = `pass 1: ConfigMap default/web: children["ConfigMap web-copy"].object.data.value is before in the record, and after now`
	assert.Equal(t, []string{differs}, failures, "the plan depends on more than its arguments")
}

func TestWhatCannotBeReplayed(t *testing.T) {
	same := copies(func() string { return "same" })
	assert.Equal(t, []string{"no pass is recorded: none wrote anything, or the recorder is too small"},
		failuresOf(t, record.NewRecorder(1<<20), same, clientgoscheme.Scheme))

	failures := failuresOf(t, passes(t, same), same, runtime.NewScheme())
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0], "no kind is registered for the type v1.ConfigMap")

	unread := copies(func() string { return "" }).External(func(context.Context, *corev1.ConfigMap, builder.View) (any, error) {
		return nil, errors.New("no answer")
	})
	failures = failuresOf(t, passes(t, unread), unread, clientgoscheme.Scheme)
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0], "pass 1: ConfigMap default/web: the pass over ConfigMap default/web failed before its plan")
}
