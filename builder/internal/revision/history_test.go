package revision

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/internal/wellknown"
)

func revisionOf(name string, number int64, state rollout.State) *Revision {
	return &Revision{
		Object: &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: number},
		Record: Record{State: state},
	}
}

func names(h []*Revision) string {
	var all []string
	for _, rev := range h {
		all = append(all, rev.Name())
	}
	return strings.Join(all, " ")
}

func TestRevisionNames(t *testing.T) {
	assert.Equal(t, "web-abc", Name("web", "abc"))
	assert.Equal(t, strings.Repeat("a", 248)+"-abc", Name(strings.Repeat("a", 248)+".bcde", "abc"))
	assert.Equal(t, "abc", hashIn("web-1-abc"))
}

func TestSelect(t *testing.T) {
	h := HistoryOf([]*Revision{revisionOf("c", 3, rollout.Progressing), revisionOf("a", 1, rollout.Completed), revisionOf("b", 2, rollout.Completed)})
	assert.Equal(t, "a b c", names(h))
	assert.EqualValues(t, 4, h.Next())
	assert.EqualValues(t, 1, History{}.Next())
	for name, c := range map[string]struct {
		target       string
		completed    *string
		last, chosen string
	}{
		"the newest completed one":          {"c", nil, "b", "c"},
		"a target that doesn't exist":       {"x", nil, "b", ""},
		"the one on record":                 {"c", new("a"), "a", "c"},
		"none on record":                    {"c", new(""), "", "c"},
		"the target, which may not be yet":  {"b", new("a"), "b", "b"},
		"one on record that doesn't exist":  {"c", new("x"), "", "c"},
		"one on record that isn't complete": {"c", new("c"), "", "c"},
	} {
		last, target := h.Select(c.target, c.completed)
		assert.Equal(t, c.last, last.Name(), name)
		assert.Equal(t, c.chosen, target.Name(), name)
	}
}

func TestTruncate(t *testing.T) {
	h := HistoryOf([]*Revision{
		revisionOf("a", 1, rollout.Completed), revisionOf("b", 2, rollout.RolledBack), revisionOf("c", 3, rollout.Completed), revisionOf("d", 4, rollout.Completed),
		revisionOf("e", 5, rollout.Progressing), revisionOf("f", 6, rollout.Progressing),
	})
	retained, stale := h.Truncate(h[3], h[5])
	assert.Equal(t, "c d f", names(retained))
	assert.Equal(t, "e b a", names(stale))
	retained, _ = h.Truncate(h[0], h[1])
	assert.Equal(t, "a b c d", names(retained), "the last one and the target whatever their age")
}

func TestTheTimeOfAPhaseStartsOnce(t *testing.T) {
	phases := []string{"a", "b"}
	now := &metav1.Time{Time: time.Unix(1, 0)}
	later := &metav1.Time{Time: time.Unix(2, 0)}
	r, changed := Record{}.Reach("a", phases, now)
	assert.True(t, changed)
	_, changed = r.Reach("a", phases, later)
	assert.False(t, changed)
	r, changed = r.Reach("b", phases, later)
	assert.True(t, changed)
	assert.Equal(t, later, r.PhaseSince)
	back, changed := r.Reach("a", phases, now)
	assert.False(t, changed)
	assert.Equal(t, r, back)
}

func TestStatusOf(t *testing.T) {
	of := func(name string, number int64, annotation string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{Revision: number, ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{wellknown.AnnotationRollout: annotation},
		}}
	}
	_, ok := StatusOf([]*appsv1.ControllerRevision{of("a", 1, `{"state":"Progressing"}`), of("x", 9, "")})
	assert.False(t, ok)
	s, ok := StatusOf([]*appsv1.ControllerRevision{
		of("c", 3, `{"state":"RolledBack","phase":"p","why":"late"}`), of("a", 1, `{"state":"Completed"}`), of("b", 2, `{"state":"Completed"}`),
	})
	assert.True(t, ok)
	assert.Equal(t, rollout.Status{State: rollout.RolledBack, Phase: "p", Message: "late", From: "b", Before: "a", To: "c"}, s)
}
