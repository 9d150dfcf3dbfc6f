package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
)

func TestWhoIsAdopted(t *testing.T) {
	controlled := []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x", Controller: ptr.To(true)}}
	mentioned := []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x"}}
	mine := []ChildOption{Adopt(AdoptOptions{Labels: map[string]string{"job": "a"}, FormerManagers: []string{"old"}})}
	const update = metav1.ManagedFieldsOperationUpdate
	label := `{"f:metadata":{"f:labels":{"f:job":{}}}}`
	self := engineWith(interceptor.Funcs{}).name
	for name, c := range map[string]struct {
		refs    []metav1.OwnerReference
		labels  map[string]string
		by      []metav1.ManagedFieldsEntry
		deleted bool
		opts    []ChildOption
		want    action
		refused bool
	}{
		"by default":          {refused: true},
		"never":               {opts: []ChildOption{Adopt(AdoptOptions{OwnedOnly: true})}, refused: true},
		"orphan":              {opts: []ChildOption{Adopt(AdoptOptions{})}, want: actionApply},
		"owned, no one's":     {opts: []ChildOption{Adopt(AdoptOptions{})}, refs: mentioned, want: actionApply},
		"someone else's":      {opts: []ChildOption{Adopt(AdoptOptions{})}, refs: controlled, refused: true},
		"being deleted":       {opts: []ChildOption{Adopt(AdoptOptions{})}, deleted: true, want: actionWait},
		"labelled":            {opts: mine, labels: map[string]string{"job": "a", "x": "y"}, by: entries(entry(self, update, label)), want: actionApply},
		"labelled, formerly":  {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry("old", update, label)), want: actionApply},
		"labelled otherwise":  {opts: mine, labels: map[string]string{"job": "b"}, by: entries(entry(self, update, label)), refused: true},
		"not labelled":        {opts: mine, by: entries(entry(self, update, label)), refused: true},
		"labelled, another's": {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry(self, update, label)), refs: controlled, refused: true},
		"labelled by others":  {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry("x", update, label)), refused: true},
		"by kubectl apply":    {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry(fieldmanager.KubectlApply, update, label)), refused: true},
		"by no one on record": {opts: mine, labels: map[string]string{"job": "a"}, refused: true},
		"labelled by others, touched by the builder": {
			opts: mine, labels: map[string]string{"job": "a"}, refused: true,
			by: entries(entry("x", update, label), entry(self, update, `{"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:job":{}}}`)),
		},
		"the last one counts": {opts: []ChildOption{Adopt(AdoptOptions{}), Adopt(AdoptOptions{OwnedOnly: true})}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := engineWith(interceptor.Funcs{}).newPass(owner())
			require.NoError(t, err)
			d, err := p.desire(Want(config("c"), c.opts...))
			require.NoError(t, err)
			found := config("c")
			found.OwnerReferences, found.Labels, found.ManagedFields = c.refs, c.labels, c.by
			if c.deleted {
				found.DeletionTimestamp = ptr.To(metav1.Now())
			}
			w, err := p.compare(d, found)
			if c.refused {
				require.ErrorIs(t, err, ErrNotOwned)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, w.action)
			assert.Equal(t, c.want == actionApply, w.adopts)
		})
	}
}

func entries(all ...metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return all }

func entry(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

// An object that is no one's may be that of another program of the same name: its fields are taken only from managers that
// Adopt names.
func TestAdoptionTakesNothingByTheProgramsName(t *testing.T) {
	for _, adopts := range []bool{false, true} {
		e := NewEngine(nil, Options{Name: "me"})
		found := config("c")
		found.ManagedFields = []metav1.ManagedFieldsEntry{entry(fieldmanager.Program(), metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:a":{}}}`)}
		w := &write{desired: &desired{child: Want(config("c"), Adopt(AdoptOptions{}))}, observed: found, adopts: adopts}
		require.True(t, w.takesOver(e))
		_, changed, err := e.fieldsTakenOver(found, w.desired)
		require.NoError(t, err)
		assert.Equal(t, !adopts, changed)
	}
}
