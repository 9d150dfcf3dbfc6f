package builder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/builder/program"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// programOf is the program of a release.
func programOf(r release) program.Options {
	return program.Options{
		Name: "widgets",
		AddToScheme: func(scheme *runtime.Scheme) error {
			scheme.AddKnownTypes(widgetVersion, &Widget{}, &WidgetList{})
			metav1.AddToGroupVersion(scheme, widgetVersion)
			return nil
		},
		Setup: func(mgr manager.Manager) error {
			return builder.NewOperator[*Widget](mgr, "widget-program").Owns(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).
				WithOptions(controller.Options{SkipNameValidation: new(true)}).Plan(r.plan).Complete()
		},
	}
}

// A program previews what it would do, does it until it is told to end, and then has nothing to do. A preview tells a disruptive release
// from others.
func TestProgram(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	require.NoError(t, w.live.Create(w.ctx, &Widget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "w0"},
		Spec:       WidgetSpec{Children: []string{"a"}, Replicas: ptr.To[int32](1), Data: map[string]string{"a": "b"}},
	}))
	run := func(ctx context.Context, r release, args ...string) (string, error) {
		var out bytes.Buffer
		args = append(args, "-kubeconfig", testcluster.Kubeconfig(t), "-watch-namespaces", w.ns)
		err := program.Run(ctx, programOf(r), args, &out)
		return out.String(), err
	}
	text, err := run(w.ctx, release{}, "preview", "-o", "json")
	require.ErrorIs(t, err, program.ErrChanges)
	var report preview.Report
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	assert.Equal(t, 1, report.Changed)
	require.Len(t, report.Details, 1)
	assert.Len(t, report.Details[0].Changes, 2)

	ctx, end := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := run(ctx, release{}, "-metrics-bind-address=0", "-health-probe-bind-address=0")
		ended <- err
	}()
	exists := func(name string, obj client.Object) bool {
		return w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: name}, obj) == nil
	}
	w.eventually(func() bool { return exists("w0-a", &corev1.ConfigMap{}) && exists("w0-web", &appsv1.Deployment{}) }, "the children")
	end()
	require.NoError(t, <-ended)

	_, err = run(w.ctx, release{}, "preview")
	require.NoError(t, err)
	text, err = run(w.ctx, release{version: "2"}, "preview", "-fields")
	require.ErrorIs(t, err, program.ErrChanges)
	assert.Contains(t, text, "data.version")
	text, err = run(w.ctx, release{image: "web:2"}, "preview", "-o", "markdown")
	require.ErrorIs(t, err, program.ErrDisruptive)
	assert.Contains(t, text, "w0-web")

	failed := errors.New("no operator")
	broken := programOf(release{})
	broken.Setup = func(manager.Manager) error { return failed }
	for _, args := range [][]string{{"preview"}, {"-metrics-bind-address=0", "-health-probe-bind-address=0"}} {
		require.ErrorIs(t, program.Run(w.ctx, broken, append(args, "-kubeconfig", testcluster.Kubeconfig(t)), nil), failed)
	}
}

// The role bindings of a watched namespace go with it. A program that starts afterwards works in the other namespaces.
func TestAProgramStartsWithoutADeletedNamespace(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	everything := []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	kubeconfig := harness.KubeconfigFor(t, w.live, w.ns, everything)
	require.NoError(t, w.live.Create(w.ctx, &Widget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "w0"}, Spec: WidgetSpec{Children: []string{"a"}},
	}))
	ctx, end := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- program.Run(ctx, programOf(release{}), []string{"-kubeconfig", kubeconfig, "-watch-namespaces", w.ns + ",deleted",
			"-metrics-bind-address=0", "-health-probe-bind-address=0"}, io.Discard)
	}()
	w.eventually(func() bool {
		return w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: "w0-a"}, &corev1.ConfigMap{}) == nil
	}, "the child")
	end()
	require.NoError(t, <-ended)
}
