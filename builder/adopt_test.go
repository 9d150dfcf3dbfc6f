package builder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/internal/paths"
)

func TestWhoIsAdopted(t *testing.T) {
	controlled := []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x", Controller: ptr.To(true)}}
	mentioned := []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x"}}
	mine := []ChildOption{AdoptLabelled(map[string]string{"job": "a"}, "old")}
	const update = metav1.ManagedFieldsOperationUpdate
	label := `{"f:metadata":{"f:labels":{"f:job":{}}}}`
	self := engineWith(interceptor.Funcs{}).name
	for name, c := range map[string]struct {
		refs    []metav1.OwnerReference
		labels  map[string]string
		by      []metav1.ManagedFieldsEntry
		deleted bool
		opts    []ChildOption
		want    verdict
		refused bool
	}{
		"by default":          {refused: true},
		"never":               {opts: []ChildOption{Adopt(Never)}, refused: true},
		"orphan":              {opts: []ChildOption{Adopt(IfOrphan)}, want: verdictApply},
		"owned, no one's":     {opts: []ChildOption{Adopt(IfOrphan)}, refs: mentioned, want: verdictApply},
		"someone else's":      {opts: []ChildOption{Adopt(IfOrphan)}, refs: controlled, refused: true},
		"being deleted":       {opts: []ChildOption{Adopt(IfOrphan)}, deleted: true, want: verdictWait},
		"labelled":            {opts: mine, labels: map[string]string{"job": "a", "x": "y"}, by: entries(entry(self, update, label)), want: verdictApply},
		"labelled, formerly":  {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry("old", update, label)), want: verdictApply},
		"labelled otherwise":  {opts: mine, labels: map[string]string{"job": "b"}, by: entries(entry(self, update, label)), refused: true},
		"not labelled":        {opts: mine, by: entries(entry(self, update, label)), refused: true},
		"labelled, another's": {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry(self, update, label)), refs: controlled, refused: true},
		"labelled by others":  {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry("x", update, label)), refused: true},
		"by kubectl apply":    {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry(kubectlApply, update, label)), refused: true},
		"by no one on record": {opts: mine, labels: map[string]string{"job": "a"}, refused: true},
		"labelled by others, touched by the builder": {
			opts: mine, labels: map[string]string{"job": "a"}, refused: true,
			by: entries(entry("x", update, label), entry(self, update, `{"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:job":{}}}`)),
		},
		"the last one counts": {opts: []ChildOption{Adopt(IfOrphan), Adopt(Never)}, refused: true},
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
			assert.Equal(t, c.want, w.verdict)
			assert.Equal(t, c.want == verdictApply, w.adopts)
		})
	}
}

func entries(all ...metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return all }

func entry(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestClaim(t *testing.T) {
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	scale := entry("hpa", update, `{"f:spec":{"f:replicas":{}}}`)
	scale.Subresource = "scale"
	formerScale := scale
	formerScale.Manager = "old"
	otherVersion := entry("old", update, `{"f:gone":{}}`)
	otherVersion.APIVersion = "v0"
	a, b := `{"f:data":{"f:a":{}}}`, `{"f:data":{"f:b":{}}}`
	both := `{"f:data":{"f:a":{},"f:b":{}}}`
	const controller, other, finalizers = `"k:{\"uid\":\"c\"}":{}`, `"k:{\"uid\":\"o\"}":{}`, `"f:finalizers":{".":{},"v:\"x/y\"":{}}`
	references := func(to string) string { return `{"f:metadata":{"f:ownerReferences":{` + to + `}}}` }
	all := `{"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:n":{}},` + finalizers + `,"f:ownerReferences":{` + controller + `,` + other + `}}}`
	taken := `{"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:n":{}},"f:ownerReferences":{` + controller + `}}}`
	left := `{"f:metadata":{` + finalizers + `,"f:ownerReferences":{` + other + `}}}`
	type entries = []metav1.ManagedFieldsEntry
	for name, c := range map[string]struct {
		record, after entries
		ignored       string
		neverWritten  bool
		unchanged     bool
	}{
		"nothing":           {unchanged: true},
		"applied":           {record: entries{entry("me", apply, a), entry("x", update, b)}, unchanged: true},
		"created":           {record: entries{entry("x", update, b), entry("me", update, a)}, after: entries{entry("x", update, b), entry("me", apply, a)}},
		"created, repaired": {record: entries{entry("me", update, a), entry("me", apply, b)}, after: entries{entry("me", apply, both)}},
		"others only":       {record: entries{entry("x", update, b), entry("y", apply, a)}, unchanged: true},
		"former update":     {record: entries{entry("old", update, a)}, after: entries{entry("me", apply, a)}},
		"former apply":      {record: entries{entry("old", apply, a)}, after: entries{entry("me", apply, a)}},
		"former both":       {record: entries{entry("old", apply, a), entry("old", update, b)}, after: entries{entry("me", apply, both)}},
		"kubectl":           {record: entries{entry("me", apply, b), entry(kubectlApply, update, a)}, after: entries{entry("me", apply, both)}},
		"subresources stay": {record: entries{scale, formerScale, entry("old", update, a)}, after: entries{scale, formerScale, entry("me", apply, a)}},
		"another version":   {record: entries{entry("me", apply, a), otherVersion}, after: entries{entry("me", apply, a)}},
		"self, the first":   {record: entries{entry(formerSelf(), update, a)}, neverWritten: true, after: entries{entry("me", apply, a)}},
		"self, later":       {record: entries{entry("me", apply, a), entry(formerSelf(), update, b)}, unchanged: true},
		"self, by applies":  {record: entries{entry(formerSelf(), apply, a)}, neverWritten: true, unchanged: true},
		"self, what others of the name may need": {
			record: entries{entry(formerSelf(), update, all)}, neverWritten: true, after: entries{entry("me", apply, taken), entry(formerSelf(), update, left)},
		},
		"self, beside ours": {
			record: entries{entry(formerSelf(), update, all), entry("me", update, b)}, neverWritten: true,
			after: entries{entry("me", apply, strings.Replace(taken, `"f:a":{}`, `"f:a":{},"f:b":{}`, 1)), entry(formerSelf(), update, left)},
		},
		"self, nothing else": {
			record: entries{entry("me", apply, b), entry(formerSelf(), update, references(other))}, neverWritten: true, unchanged: true,
		},
		"former, with all":  {record: entries{entry("old", update, all)}, after: entries{entry("me", apply, all)}},
		"ignored, created":  {record: entries{entry("me", update, both)}, ignored: "data[b]", after: entries{entry("me", apply, a)}},
		"ignored, applied":  {record: entries{entry("me", apply, both)}, ignored: "data[b]", after: entries{entry("me", apply, a)}},
		"ignored, not ours": {record: entries{entry("me", apply, a), entry("x", update, b)}, ignored: "data[b]", unchanged: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEngine(nil, Options{Name: "me"})
			d := &desired{child: Want(config("c"), Adopt(IfOrphan, "old")), neverWritten: c.neverWritten}
			if c.ignored != "" {
				path, err := paths.Parse(c.ignored)
				require.NoError(t, err)
				d.ignored = []paths.Path{path}
			}
			found := config("c")
			found.OwnerReferences = []metav1.OwnerReference{{UID: "o"}, {UID: "c", Controller: ptr.To(true)}}
			found.ManagedFields = c.record
			before := found.DeepCopy().ManagedFields
			after, changed, err := e.claimed(found, d)
			require.NoError(t, err)
			assert.Equal(t, before, c.record, "shared with the cache")
			assert.Equal(t, !c.unchanged, changed)
			if c.unchanged {
				c.after = c.record
			}
			assert.Equal(t, c.after, after)
			if !c.unchanged {
				found.ManagedFields = after
				_, changed, err = e.claimed(found, d)
				require.NoError(t, err)
				assert.False(t, changed, "once")
			}
		})
	}
	found := config("c")
	found.ManagedFields = entries{entry("me", update, `nonsense`)}
	_, _, err := NewEngine(nil, Options{Name: "me"}).claimed(found, &desired{child: Want(config("c"))})
	assert.ErrorContains(t, err, "managedFields of me")
}

// An object that is no one's may be that of another program of the same name: its fields are taken only from managers that
// Adopt names.
func TestAdoptionTakesNothingByTheProgramsName(t *testing.T) {
	for _, adopts := range []bool{false, true} {
		e := NewEngine(nil, Options{Name: "me"})
		found := config("c")
		found.ManagedFields = []metav1.ManagedFieldsEntry{entry(formerSelf(), metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:a":{}}}`)}
		w := &write{desired: &desired{child: Want(config("c"), Adopt(IfOrphan))}, found: found, adopts: adopts}
		require.True(t, w.claims(e))
		_, changed, err := e.claimed(found, w.desired)
		require.NoError(t, err)
		assert.Equal(t, !adopts, changed)
	}
}
