package immutable

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/merge"
)

// A rule at the root of a custom resource's schema finds fault with the object as a whole.
func TestFaultOfTheWholeObject(t *testing.T) {
	causes := []metav1.StatusCause{{Field: "<nil>", Message: "may only grow"}}
	label, grown := fieldpath.MakePathOrDie("metadata", "labels", "a"), fieldpath.MakePathOrDie("spec", "grow")
	o := merge.Objects{Live: map[string]any{"spec": map[string]any{"grow": 5}}, Others: fieldpath.NewSet(grown)}
	theirs, isOurs := ByOthers(causes, o, []merge.Difference{{Path: label, Theirs: true}, {Path: grown, Theirs: true}}, true)
	assert.False(t, isOurs)
	assert.Equal(t, []fieldpath.Path{grown}, theirs)
	theirs, isOurs = ByOthers(causes, o, []merge.Difference{{Path: label, Theirs: true}, {Path: grown}}, true)
	assert.True(t, isOurs, "the metadata isn't at fault")
	assert.Empty(t, theirs)

	o = merge.Objects{Live: map[string]any{"spec": map[string]any{"grow": 5}}, Desired: map[string]any{"spec": map[string]any{"grow": 1}}}
	said := func(all ...merge.Difference) string { return Differences(causes, o, all, false)[0].String() }
	assert.Equal(t, `spec.grow (is "5", desired "1")`, said(merge.Difference{Path: label}, merge.Difference{Path: grown}))
	assert.Equal(t, "the object", said())
	delete(o.Desired, "spec")
	assert.Equal(t, `spec.grow (is "5", desired unset)`, said(merge.Difference{Path: grown}))
	assert.Equal(t, "spec (is set, desired unset)", said(merge.Difference{Path: fieldpath.MakePathOrDie("spec")}))
}

// An apply that empties a map leaves null in a custom resource. The API server's refusal of that is about no change.
func TestFaultOfAType(t *testing.T) {
	path := fieldpath.MakePathOrDie("spec", "parts")
	causes := []metav1.StatusCause{
		{Type: metav1.CauseTypeTypeInvalid, Field: "spec.parts", Message: "spec.parts in body must be of type object"},
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "<nil>", Message: "some validation rules were not checked"},
	}
	_, isOurs := ByOthers(causes, merge.Objects{}, []merge.Difference{{Path: path}}, true)
	assert.False(t, isOurs)
}

// A name that isn't found is about what the object would be, and no immutable field.
func TestFaultThatIsNoChange(t *testing.T) {
	path := fieldpath.MakePathOrDie("spec", "volumes")
	for cause, want := range map[metav1.CauseType]bool{
		metav1.CauseTypeFieldValueInvalid: true, metav1.CauseTypeForbidden: true, metav1.CauseTypeFieldValueRequired: true,
		metav1.CauseTypeFieldValueNotFound: false, metav1.CauseTypeFieldValueDuplicate: false,
	} {
		causes := []metav1.StatusCause{{Type: cause, Field: "spec.volumes[0].name"}}
		_, isOurs := ByOthers(causes, merge.Objects{}, []merge.Difference{{Path: path}}, true)
		assert.Equal(t, want, isOurs, cause)
	}
}
