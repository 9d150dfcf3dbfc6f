package revision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/internal/wellknown"
)

func TestRuns(t *testing.T) {
	var none *Runs
	assert.Nil(t, none.Find("a"))
	r := none.Add("migrate", []Run{{ID: "a"}})
	assert.Equal(t, "a", r.Find("a").ID)
	assert.Nil(t, r.Find("b"))
	next := r
	for i := range maxRuns {
		next = next.Add("migrate", []Run{{ID: fmt.Sprint(i)}})
	}
	assert.Len(t, next.Runs, maxRuns)
	assert.Nil(t, next.Find("a"), "the oldest is dropped")
	assert.Len(t, r.Runs, 1)
}

func TestADamagedRecordRemainsOne(t *testing.T) {
	data, err := RunsData("migrate")
	require.NoError(t, err)
	object := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: data}}
	for annotation, damaged := range map[string]bool{
		`{"child":"migrate","runs":[]}`: false, `{"child":"other"}`: true, "{": true, "": true,
	} {
		object.Annotations = map[string]string{wellknown.AnnotationRunOnce: annotation}
		r := ReadRuns(object)
		require.NotNil(t, r, annotation)
		assert.Equal(t, "migrate", r.Child)
		assert.Equal(t, damaged, r.Damage != nil, annotation)
	}
	assert.Nil(t, ReadRuns(&appsv1.ControllerRevision{}))
}

func TestNamesOfRuns(t *testing.T) {
	assert.Equal(t, "migrate-abc", JobName("migrate", "abc"))
	assert.Equal(t, strings.Repeat("a", 58)+"-abc", JobName(strings.Repeat("a", 58)+".-aaa", "abc"))
	assert.NotEqual(t, RunID("a", "b\nc"), RunID("a", "b"))
	owner := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "1"}}
	other := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "2"}}
	assert.NotEqual(t, RunsName(owner, "migrate"), RunsName(other, "migrate"), "an owner that was created again runs again")
}
