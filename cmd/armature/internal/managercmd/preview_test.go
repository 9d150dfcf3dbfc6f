package managercmd

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

func previewedLease(namespace, scope string) client.Object {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: leaseName, Labels: map[string]string{leader.LabelName: leader.Name},
			Annotations: map[string]string{leader.AnnotationScope: scope},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: new("pod-1"), RenewTime: &metav1.MicroTime{Time: time.Unix(1, 0)}},
	}
}

// A mistyped namespace has no objects to preview.
func TestPreviewOfAMissingNamespace(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}).Build()
	assert.NoError(t, checkNamespace(t.Context(), c, "team"))
	assert.NoError(t, checkNamespace(t.Context(), c, ""))
	assert.EqualError(t, checkNamespace(t.Context(), c, "tema"), `--namespace: the namespace "tema" doesn't exist`)
	forbidden := interceptor.NewClient(c, interceptor.Funcs{Get: func(
		context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption,
	) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "tema", nil)
	}})
	assert.NoError(t, checkNamespace(t.Context(), forbidden, "tema"))
	assert.ErrorContains(t, noFiles(nil, []string{"flow.yaml"}), `unexpected argument "flow.yaml"`)
}

// A preview looks at the objects of the manager that it finds, unless flags say otherwise.
func TestPreviewIsLikeTheManager(t *testing.T) {
	one := previewedLease("system", `{"namespaces": ["a", "b"], "selector": "x=y", "operators": ["jobflow"]}`)
	other := previewedLease("team", `{"operators": ["daemonjob"]}`)
	read := func(given []string, leases ...client.Object) (options, error) {
		o := options{operators: []string{"*"}, leaderElectName: leaseName, watchNamespaces: []string{"mine"}, leaderElectNamespace: "team"}
		c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(leases...).Build()
		return likeManager(t.Context(), c, o, func(flag string) bool { return assert.ObjectsAreEqual([]string{flag}, given) })
	}
	o, err := read(nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"*"}, o.operators)

	o, err = read(nil, one)
	require.NoError(t, err)
	assert.Equal(t, options{
		operators: []string{"jobflow"}, leaderElect: true, leaderElectNamespace: "system", leaderElectName: leaseName,
		watchNamespaces: []string{"a", "b"}, selector: "x=y",
	}, o)

	o, err = read([]string{"namespace"}, one)
	require.NoError(t, err)
	assert.Equal(t, []string{"mine"}, o.watchNamespaces)

	_, err = read(nil, one, other)
	assert.EqualError(t, err, "the cluster has 2 managers, with the leases system/armature-manager, team/armature-manager; "+
		"choose one with --leader-elect-namespace and --leader-elect-name")

	o, err = read([]string{"leader-elect-namespace"}, one, other)
	require.NoError(t, err)
	assert.Equal(t, []string{"daemonjob"}, o.operators)
}

// The lease of an uninstalled manager remains, released. So does that of a stopped manager, whose objects a preview covers.
func TestPreviewIgnoresReleasedLeasesBesideHeldOnes(t *testing.T) {
	held := previewedLease("system", `{"operators": ["jobflow"]}`)
	released := previewedLease("former", `{"operators": ["daemonjob"]}`)
	released.(*coordinationv1.Lease).Spec.HolderIdentity = new("")
	read := func(leases ...client.Object) (options, error) {
		c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(leases...).Build()
		return likeManager(t.Context(), c, options{operators: []string{"*"}}, func(string) bool { return false })
	}
	o, err := read(held, released)
	require.NoError(t, err)
	assert.Equal(t, []string{"jobflow"}, o.operators)
	o, err = read(released)
	require.NoError(t, err)
	assert.Equal(t, []string{"daemonjob"}, o.operators)
}

// A user who may list the leases of the manager's namespace only names that namespace.
func TestPreviewWithTheLeasesOfOneNamespace(t *testing.T) {
	lease := previewedLease("team", `{"operators": ["daemonjob"]}`)
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(lease).Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if (&client.ListOptions{}).ApplyOptions(opts).Namespace != "team" {
				return apierrors.NewForbidden(schema.GroupResource{Group: coordinationv1.GroupName, Resource: "leases"}, "", nil)
			}
			return c.List(ctx, list, opts...)
		},
	})
	o := options{operators: []string{"*"}, leaderElectName: leaseName, leaderElectNamespace: "team"}
	_, err := likeManager(t.Context(), c, o, func(string) bool { return false })
	assert.ErrorContains(t, err, "--leader-elect-namespace")
	o, err = likeManager(t.Context(), c, o, func(flag string) bool { return flag == "leader-elect-namespace" })
	require.NoError(t, err)
	assert.Equal(t, []string{"daemonjob"}, o.operators)
}

func TestExitCodesOfAPreview(t *testing.T) {
	for want, report := range map[int]preview.Report{
		0: {Owners: 3, Unchanged: 3},
		2: {Owners: 3, Changed: 1},
		3: {Owners: 3, Changed: 1, Disruptive: 1, Refused: 1},
	} {
		err := show(&bytes.Buffer{}, &report, output.New(), false)
		code, silent := exitcode.Of(err)
		assert.Equal(t, want, code)
		assert.True(t, silent, "the report says it")
	}
	code, _ := exitcode.Of(show(&bytes.Buffer{}, &preview.Report{Refused: 1}, output.New(), false))
	assert.Equal(t, 2, code)
}
