package queuecmd

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// tenant returns a cluster with the queues q and other, of which the user may read the FluxJobs of one namespace only, and some by name.
func tenant(t *testing.T, namespace string, readable ...string) *connect.Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	waiting := waits("b", "WaitingForQuota", ptr.To[int32](7), time.Hour)
	elsewhere := waits("c", "WaitingForQuota", ptr.To[int32](8), time.Hour)
	elsewhere.Namespace = "secret"
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&waiting, &elsewhere,
		&v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q"}}, &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "other"}}).Build()
	forbidden := func(resource, scope string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: resource}, "",
			errors.New("User \"alice\" cannot read it "+scope))
	}
	return &connect.Cluster{Namespace: namespace, Client: interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if slices.Contains(readable, key.Name) {
				return c.Get(ctx, key, obj, opts...)
			}
			return forbidden("fluxsetups", "at the cluster scope")
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*v1alpha1.FluxSetupList); ok {
				return forbidden("fluxsetups", "at the cluster scope")
			}
			if o := (&client.ListOptions{}).ApplyOptions(opts); o.Namespace != "team" {
				return forbidden("fluxjobs", "in "+o.Namespace)
			}
			return c.List(ctx, list, opts...)
		},
	})}
}

// FluxSetups are cluster-scoped, so that a user of one namespace may not read them. He sees his own jobs, and what is missing.
func TestAQueueThatMayNotBeRead(t *testing.T) {
	const q = "FluxSetup/q  may not be read  1 waiting\n\n  POSITION  WAITING  AGE  REASON\n  7         team/b   60m  WaitingForQuota: because b\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, q}, {[]string{"q"}, q}, {[]string{"none"}, "FluxSetup/none  may not be read  0 waiting\n"},
	} {
		var out, errs bytes.Buffer
		all, err := read(t.Context(), tenant(t, "team"), c.args, &errs)
		require.NoError(t, err)
		require.NoError(t, write(&out, output.New(), all, now))
		assert.Equal(t, c.want, out.String())
		assert.Regexp(t, `^not shown: jobs of other namespaces: fluxjobs.api.practice.com .*
not shown: quota, usage and admitted jobs: fluxsetups.api.practice.com .*cannot read it at the cluster scope\n$`, errs.String())
	}

	var errs bytes.Buffer
	all, err := read(t.Context(), tenant(t, "team", "q"), nil, &errs)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.False(t, all[0].Hidden, "a role with resourceNames permits get, and not list")

	_, err = read(t.Context(), tenant(t, "foreign"), nil, &errs)
	require.ErrorContains(t, err, `cannot read it at the cluster scope`, "nothing is left to show")
	assert.Contains(t, errs.String(), "not shown: jobs of namespace foreign: ")
	_, err = read(t.Context(), tenant(t, "foreign"), []string{"q"}, &errs)
	require.ErrorContains(t, err, `cannot read it at the cluster scope`)
}
