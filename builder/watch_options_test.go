package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

func TestWatchesMisused(t *testing.T) {
	which := func(_, _ client.Object) (bool, []types.NamespacedName) { return false, nil }
	names := func(*corev1.Pod) []string { return nil }
	for name, c := range map[string]struct {
		kind    client.Object
		options []WatchOption
		want    string
	}{
		"observed by all": {&corev1.Node{}, []WatchOption{ObservedByAll(), EnqueueFor(which)}, ""},
		"referenced":      {&corev1.Secret{}, []WatchOption{EnqueueFor(which), ReferencedBy(names)}, ""},
		"no source":       {&corev1.Node{}, []WatchOption{EnqueueFor(which)}, "*v1.Node has 0 of ReferencedBy, Referencing and ObservedByAll"},
		"nothing":         {&corev1.Node{}, nil, "*v1.Node has 0 of ReferencedBy"},
		"two sources":     {&corev1.Node{}, []WatchOption{ObservedByAll(), ReferencedBy(names)}, "*v1.Node has 2 of ReferencedBy"},
		"a nil option":    {&corev1.Node{}, []WatchOption{nil}, "an option of *v1.Node is nil"},
		"beside Referencing": {
			&corev1.Node{}, []WatchOption{Referencing(func(client.Object) []string { return nil }), EnqueueFor(which)}, "beside Referencing",
		},
		"no function": {&corev1.Node{}, []WatchOption{ObservedByAll(), EnqueueFor[*corev1.Node](nil)}, "EnqueueFor needs a function"},
		"no names":    {&corev1.Node{}, []WatchOption{ReferencedBy[*corev1.Pod](nil)}, "ReferencedBy needs a function"},
		"twice":       {&corev1.Node{}, []WatchOption{ObservedByAll(), EnqueueFor(which), EnqueueFor(which)}, "EnqueueFor is given twice"},
		"of another owner": {
			&corev1.Node{}, []WatchOption{ReferencedBy(func(*corev1.Secret) []string { return nil })},
			"ReferencedBy has a function of *v1.Secret; it must be of *v1.Pod",
		},
		"of another kind": {
			&corev1.Node{}, []WatchOption{Referencing(func(*corev1.Secret) []string { return nil })},
			"Referencing has a function of *v1.Secret; it must be of *v1.Node",
		},
		"events of another kind": {
			&corev1.Node{}, []WatchOption{ObservedByAll(), EnqueueFor(func(_, _ *corev1.Secret) (bool, []types.NamespacedName) { return false, nil })},
			"EnqueueFor has a function of *v1.Secret; it must be of *v1.Node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOperator[*corev1.Pod](nil, "test").Watches(c.kind, c.options...)
			o.engine = NewEngine(fake.NewClientBuilder().WithScheme(scheme.Scheme).Build(), Options{})
			_, err := o.checkWatches(kinds.Kind{})
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, ErrMisuse)
			assert.ErrorContains(t, err, c.want)
		})
	}
}
