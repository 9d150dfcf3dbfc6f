package admission

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestWhichSetupsAChangeConcerns(t *testing.T) {
	changed := func(f func(*v1alpha1.FluxJob)) *v1alpha1.FluxJob { return makeJob("a", 1, f) }
	labelled := func(labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}
	}
	cluster := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{LabelQueue: "q"}}}
	leaving := cluster.DeepCopy()
	leaving.DeletionTimestamp = new(at(1))
	q, none, all := queues("q"), woken{}, woken{all: true}
	tests := map[string]struct {
		which         func(before, after client.Object) woken
		before, after client.Object
		want          woken
	}{
		"a new job":        {of(queuesOfJob), nil, makeJob("a", 1), q},
		"a job that left":  {of(queuesOfJob), makeJob("a", 1), nil, q},
		"nothing of note":  {of(queuesOfJob), makeJob("a", 1), changed(func(j *v1alpha1.FluxJob) { j.Status.Position = ptr.To[int32](3) }), none},
		"another spec":     {of(queuesOfJob), makeJob("a", 1), changed(func(j *v1alpha1.FluxJob) { j.Generation = 2 }), q},
		"another queue":    {of(queuesOfJob), makeJob("a", 1), changed(func(j *v1alpha1.FluxJob) { j.Generation, j.Spec.Queue = 2, "p" }), queues("p", "q")},
		"now Kueue's":      {of(queuesOfJob), makeJob("a", 1), changed(func(j *v1alpha1.FluxJob) { j.Labels = map[string]string{v1alpha1.LabelKueueQueue: "k"} }), q},
		"accepted":         {of(queuesOfJob), makeJob("a", 1), makeJob("a", 1, holding), q},
		"given back":       {of(queuesOfJob), makeJob("a", 1, holding), makeJob("a", 1), q},
		"ready":            {of(queuesOfJob), makeJob("a", 1, holding), makeJob("a", 1, holding, func(j *v1alpha1.FluxJob) { j.Status.Admission.ReadyTime = new(at(1)) }), q},
		"evicted":          {of(queuesOfJob), makeJob("a", 1, holding), makeJob("a", 1, holding, func(j *v1alpha1.FluxJob) { j.Status.Admission.Evicted = &v1alpha1.FluxEviction{} }), q},
		"ended":            {of(queuesOfJob), makeJob("a", 1, holding), makeJob("a", 1, holding, func(j *v1alpha1.FluxJob) { j.Status.CompletionTime = new(at(1)) }), q},
		"backing off":      {of(queuesOfJob), makeJob("a", 1), changed(func(j *v1alpha1.FluxJob) { j.Status.RequeueTime = new(at(1)) }), q},
		"running":          {of(queuesOfJob), makeJob("a", 1, holding), makeJob("a", 1, holding, func(j *v1alpha1.FluxJob) { j.Status.State = v1alpha1.FluxJobRunning }), none},
		"being deleted":    {of(queuesOfJob), makeJob("a", 1), changed(func(j *v1alpha1.FluxJob) { j.DeletionTimestamp = new(at(1)) }), q},
		"replaced":         {of(queuesOfJob), makeJob("a", 1), changed(func(j *v1alpha1.FluxJob) { j.UID = "other" }), q},
		"paused":           {of(queuesOfJob), makeJob("a", 1), makeJob("a", 1, paused), q},
		"a new cluster":    {of(queueOfCluster), nil, cluster, none},
		"a cluster":        {of(queueOfCluster), cluster, cluster, none},
		"deleted":          {of(queueOfCluster), cluster, leaving, q},
		"still terminates": {of(queueOfCluster), leaving, leaving, none},
		"a cluster gone":   {of(queueOfCluster), cluster, nil, q},
		"someone's":        {of(queueOfCluster), &v1alpha1.MiniCluster{}, nil, none},
		"a setup alone":    {of(Manager{}.queuesOfSetup), makeSetup("p"), makeSetup("p", clusters(2)), none},
		"a new setup":      {of(Manager{}.queuesOfSetup), nil, makeSetup("p", inCohort("lab")), all},
		"of a cohort":      {of(Manager{}.queuesOfSetup), makeSetup("p", inCohort("lab")), makeSetup("p", inCohort("lab"), withReservations(makeJob("a", 1))), all},
		"left its cohort":  {of(Manager{}.queuesOfSetup), makeSetup("p", inCohort("lab")), makeSetup("p"), all},
		"a setup gone":     {of(Manager{}.queuesOfSetup), makeSetup("p", inCohort("lab")), nil, all},
		"a namespace":      {of(queuesOfNamespace), nil, labelled(nil), all},
		"relabelled":       {of(queuesOfNamespace), labelled(nil), labelled(map[string]string{"a": "b"}), all},
		"same labels":      {of(queuesOfNamespace), labelled(nil), labelled(nil), none},
		"a namespace gone": {of(queuesOfNamespace), labelled(nil), nil, all},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, tt.which(tt.before, tt.after)) })
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

// queues are woken by their names.
func queues(names ...string) woken { return woken{names: owners(names...)} }
