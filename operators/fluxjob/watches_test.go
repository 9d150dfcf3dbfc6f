package fluxjob

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

func TestWhichJobsAChangeConcerns(t *testing.T) {
	book := func(entries ...string) *v1alpha1.FluxSetup {
		s := makeSetup("q")
		for _, name := range entries {
			r := v1alpha1.FluxReservation{Namespace: "default", Name: strings.TrimSuffix(name, "!"), Attempt: 1}
			r.UID = types.UID(r.Name)
			if strings.HasSuffix(name, "!") {
				r.Evicted = &v1alpha1.FluxEviction{}
			}
			s.Status.Reservations = append(s.Status.Reservations, r)
		}
		return s
	}
	line := func(names ...string) *v1alpha1.FluxSetup {
		s := makeSetup("q")
		for _, name := range names {
			name, reason, _ := strings.Cut(name, " ")
			s.Status.Queue = append(s.Status.Queue, v1alpha1.FluxQueueEntry{Namespace: "default", Name: name, Reason: reason})
		}
		return s
	}
	changed := func(f func(*v1alpha1.FluxSetup)) *v1alpha1.FluxSetup { s := makeSetup("q"); f(s); return s }
	managedBy := func(name string) *v1alpha1.FluxSetup {
		return changed(func(s *v1alpha1.FluxSetup) { s.Status.Manager = &v1alpha1.FluxSetupManager{Name: name} })
	}
	requestBy := func(name string, declined bool) *v1alpha1.FluxSetup {
		s := managedBy("other")
		s.Status.Manager.Takeover = &v1alpha1.FluxSetupTakeover{By: name, Declined: declined}
		return s
	}
	all := woken{all: true}
	names := func(names ...string) woken {
		var o woken
		for _, name := range names {
			o.names = append(o.names, types.NamespacedName{Namespace: "default", Name: name})
		}
		return o
	}
	labelled := func(labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}
	}
	tests := map[string]struct {
		which         func(before, after client.Object) woken
		before, after client.Object
		want          woken
	}{
		"a new setup":          {of(jobsOfSetup(admission.Manager{})), nil, makeSetup("q"), all},
		"a setup gone":         {of(jobsOfSetup(admission.Manager{})), makeSetup("q"), nil, all},
		"other rules":          {of(jobsOfSetup(admission.Manager{})), makeSetup("q"), changed(func(s *v1alpha1.FluxSetup) { s.Generation = 2 }), all},
		"rules taken note of":  {of(jobsOfSetup(admission.Manager{})), makeSetup("q"), changed(func(s *v1alpha1.FluxSetup) { s.Status.ObservedGeneration = 2 }), all},
		"a count":              {of(jobsOfSetup(admission.Manager{})), makeSetup("q"), changed(func(s *v1alpha1.FluxSetup) { s.Status.PendingWorkloads = 2 }), names()},
		"admitted":             {of(jobsOfSetup(admission.Manager{})), book("a"), book("a", "b"), names("b")},
		"given back":           {of(jobsOfSetup(admission.Manager{})), book("a", "b", "c"), book("a", "c"), names("b")},
		"evicted":              {of(jobsOfSetup(admission.Manager{})), book("a", "b"), book("a!", "b"), names("a")},
		"in another order":     {of(jobsOfSetup(admission.Manager{})), book("a", "b"), book("b", "a"), names()},
		"lined up":             {of(jobsOfSetup(admission.Manager{})), line("a"), line("a", "b"), names("b")},
		"left the line":        {of(jobsOfSetup(admission.Manager{})), line("a", "b", "c"), line("a", "b"), names("c")},
		"all move up":          {of(jobsOfSetup(admission.Manager{})), line("a", "b", "c"), line("b", "c"), names("a", "b", "c")},
		"waits for else":       {of(jobsOfSetup(admission.Manager{})), line("a x", "b x"), line("a y", "b x"), names("a")},
		"of another manager":   {of(jobsOfSetup(admission.Manager{Namespaces: []string{"other"}})), book("a"), book("b"), names()},
		"of a new manager":     {of(jobsOfSetup(admission.Manager{})), book("a"), managedBy("other"), all},
		"its own request":      {of(jobsOfSetup(admission.Manager{})), managedBy("other"), requestBy("armature", false), all},
		"a request declined":   {of(jobsOfSetup(admission.Manager{})), requestBy("armature", false), requestBy("armature", true), names()},
		"another's request":    {of(jobsOfSetup(admission.Manager{})), managedBy("other"), requestBy("third", false), names()},
		"a namespace":          {of(jobsOfNamespace), nil, labelled(nil), all},
		"relabelled":           {of(jobsOfNamespace), labelled(nil), labelled(map[string]string{"a": "b"}), all},
		"the same labels":      {of(jobsOfNamespace), labelled(nil), labelled(nil), woken{}},
		"a namespace is going": {of(jobsOfNamespace), labelled(nil), nil, woken{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.which(tt.before, tt.after)
			slices.SortFunc(got.names, func(a, b types.NamespacedName) int { return strings.Compare(a.Name, b.Name) })
			assert.Equal(t, tt.want, got)
		})
	}
}

// woken are the owners that a change concerns.
type woken struct {
	all   bool
	names []types.NamespacedName
}

// of returns a function of two objects as the builder calls it: one that doesn't exist is nil.
func of[K client.Object](which func(before, after K) (bool, []types.NamespacedName)) func(before, after client.Object) woken {
	return func(before, after client.Object) woken {
		b, _ := before.(K)
		a, _ := after.(K)
		all, names := which(b, a)
		return woken{all, names}
	}
}

// What a job's template writes into annotations of the pods doesn't hide them.
func TestPodsNameTheirJobByTheLabel(t *testing.T) {
	pod := podOf("uid")
	pod.Annotations = map[string]string{LabelFluxJob: "other"}
	assert.Equal(t, []string{"a"}, jobOfPod(pod))
	assert.Empty(t, jobOfPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: pod.Annotations}}))
}
