package apply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Only a child that may be recreated has the digests of its fields, and a Secret never: they would give its values away.
func TestDigestsOfFields(t *testing.T) {
	recreate := &Options{Recreate: &Recreate{}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"a": "b"}}
	for name, c := range map[string]struct {
		child Child
		has   bool
	}{
		"without options":            {Child{Object: config("c")}, false},
		"kept":                       {Child{Object: config("c"), Options: &Options{KeepImmutable: true}}, false},
		"recreated":                  {Child{Object: config("c"), Options: recreate}, true},
		"a Secret that is recreated": {Child{Object: secret, Options: recreate}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := stamped(t, c.child)
			annotation := d.object.GetAnnotations()[wellknown.AnnotationDigest]
			assert.Equal(t, c.has, strings.HasPrefix(annotation, d.Digest+digestSeparator))
			assert.Equal(t, !c.has, annotation == d.Digest)
			assert.Equal(t, d.Digest, DigestOf(d.object))
			assert.True(t, d.isDigestOf(d.object))
		})
	}
}

func TestDriftAtAField(t *testing.T) {
	type fields = map[string]any
	pod := func(spec fields) fields { return fields{"spec": spec} }
	gates := func(names ...string) []any {
		var all []any
		for _, name := range names {
			all = append(all, fields{"name": name})
		}
		return all
	}
	gate := func(name string) fieldpath.Path {
		return fieldpath.MakePathOrDie("spec", "gates", fieldpath.KeyByFields("name", name))
	}
	a, in, list := fieldpath.MakePathOrDie("spec", "a"), fieldpath.MakePathOrDie("spec", "in"), fieldpath.MakePathOrDie("spec", "gates")
	inA, inAB := fields{"in": fields{"a": "1"}}, fields{"in": fields{"a": "1", "b": "2"}}
	gatesOf := func(names ...string) fields { return fields{"gates": gates(names...)} }
	for name, c := range map[string]struct {
		last, live, desired, fresh fields
		path                       fieldpath.Path
		drift                      bool
	}{
		"removed":                    {fields{"a": "1"}, fields{}, fields{"a": "1"}, fields{"a": "1"}, a, true},
		"changed":                    {fields{"a": "1"}, fields{"a": "2"}, fields{"a": "1"}, fields{"a": "1"}, a, true},
		"desired since":              {fields{}, fields{}, fields{"a": "1"}, fields{"a": "1"}, a, false},
		"desired otherwise since":    {fields{"a": "0"}, fields{"a": "0"}, fields{"a": "1"}, fields{"a": "1"}, a, false},
		"no longer desired":          {fields{"a": "1"}, fields{"a": "1"}, fields{}, fields{}, a, false},
		"stored in another form":     {fields{"a": "1000m"}, fields{"a": "1"}, fields{"a": "1000m"}, fields{"a": "1"}, a, false},
		"a new object isn't known":   {fields{"a": "1"}, fields{}, fields{"a": "1"}, nil, a, false},
		"in a struct that is gone":   {inA, fields{}, inAB, inAB, in, true},
		"an element removed":         {gatesOf("a", "b"), gatesOf("b"), gatesOf("a", "b"), gatesOf("a", "b"), gate("a"), true},
		"an element desired since":   {gatesOf("b"), gatesOf("b"), gatesOf("a", "b"), gatesOf("a", "b"), gate("a"), false},
		"all elements are removed":   {gatesOf("a"), fields{}, gatesOf("a"), gatesOf("a"), list, true},
		"a list that others emptied": {gatesOf("a"), gatesOf(), gatesOf("a"), gatesOf("a"), gate("a"), true},
	} {
		t.Run(name, func(t *testing.T) {
			last := stamped(t, Child{Object: config("c"), Options: &Options{Recreate: &Recreate{}}})
			annotation, err := last.annotationOf(pod(c.last))
			assert.NoError(t, err)
			observed := config("c")
			observed.Annotations = map[string]string{wellknown.AnnotationDigest: annotation}
			o := merge.Objects{Live: pod(c.live), Desired: pod(c.desired)}
			if c.fresh != nil {
				o.Fresh = pod(c.fresh)
			}
			assert.Equal(t, c.drift, (&Write{initial: client.Object(observed)}).isDriftAt(c.path, o))
		})
	}
}
