package uiserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/queuecmd"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// queueView is a queue as "armature queue" shows it, and what pictures of it need beside.
type queueView struct {
	queuecmd.Queue
	Strategy string `json:"strategy,omitempty"`
	Cohort   string `json:"cohort,omitempty"`
	// Pending is how many jobs wait in all; the list has the first.
	Pending  int32          `json:"pending,omitempty"`
	Usage    []usageView    `json:"usage,omitempty"`
	Admitted []admittedView `json:"admitted,omitempty"`
	Waiting  []waitingView  `json:"waiting,omitempty"`
}

// usageView is the usage of a resource, and as a part of the quota: above 1 if more is borrowed.
type usageView struct {
	v1alpha1.FluxResourceUsage
	Share float64 `json:"share"`
}

// admittedView is a job that has its share, and when it ends at the latest, if it has a deadline.
type admittedView struct {
	queuecmd.AdmittedJob
	Ends *time.Time `json:"ends,omitempty"`
}

// waitingView is a job that waits, and when it is admitted if those before it run until their deadlines, or why that isn't known.
type waitingView struct {
	queuecmd.WaitingJob
	ETA        *time.Time `json:"eta,omitempty"`
	ETAUnknown string     `json:"etaUnknown,omitempty"`
}

// setupOf and fluxJobOf keep what queues are made of.
func setupOf(u *unstructured.Unstructured) *v1alpha1.FluxSetup {
	setup := &v1alpha1.FluxSetup{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, setup) != nil {
		setup.Name, setup.UID = u.GetName(), u.GetUID()
	}
	setup.ManagedFields = nil
	return setup
}

func fluxJobOf(u *unstructured.Unstructured) *v1alpha1.FluxJob {
	job := &v1alpha1.FluxJob{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, job) != nil { // the name is left
		job = &v1alpha1.FluxJob{}
		job.Namespace, job.Name, job.UID = u.GetNamespace(), u.GetName(), u.GetUID()
	}
	small := admission.Reduced(job)
	if small.Status.CompletionTime != nil { // it needs nothing any more
		small.Spec.Size, small.Spec.Resources, small.Spec.MiniCluster = nil, nil, nil
	}
	return small
}

// queueBook is what one stream knows of queues. A change leads to the queues that it is about, and to no other.
type queueBook struct {
	setups  map[string]*v1alpha1.FluxSetup
	names   map[types.UID]string
	jobs    map[types.UID]*v1alpha1.FluxJob
	byKey   map[types.NamespacedName]*v1alpha1.FluxJob
	waiting map[string]map[types.UID]*v1alpha1.FluxJob
	holders map[types.NamespacedName]string // the queue in which a job has its share
	sent    map[string][]byte
	touched map[string]bool
	hidden  bool // the viewer may not see queues
}

func newQueueBook() *queueBook {
	return &queueBook{
		setups: map[string]*v1alpha1.FluxSetup{}, names: map[types.UID]string{}, jobs: map[types.UID]*v1alpha1.FluxJob{},
		byKey: map[types.NamespacedName]*v1alpha1.FluxJob{}, waiting: map[string]map[types.UID]*v1alpha1.FluxJob{},
		holders: map[types.NamespacedName]string{}, sent: map[string][]byte{}, touched: map[string]bool{},
	}
}

// take notes what has changed.
func (b *queueBook) take(setups changes[*v1alpha1.FluxSetup], jobs changes[*v1alpha1.FluxJob]) {
	for _, uid := range setups.gone {
		if name, ok := b.names[uid]; ok && b.setups[name] != nil && b.setups[name].UID == uid {
			b.release(b.setups[name])
			delete(b.setups, name)
			b.touched[name] = true
		}
		delete(b.names, uid)
	}
	for _, setup := range setups.set {
		b.release(b.setups[setup.Name])
		b.setups[setup.Name], b.names[setup.UID] = setup, setup.Name
		b.touched[setup.Name] = true
		for _, r := range setup.Status.Reservations {
			b.holders[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}] = setup.Name
		}
	}
	for _, uid := range jobs.gone {
		b.forget(uid)
	}
	for _, job := range jobs.set {
		b.forget(job.UID)
		b.jobs[job.UID], b.byKey[client.ObjectKeyFromObject(job)] = job, job
		if name := queuecmd.WaitsIn(job); name != "" {
			if b.waiting[name] == nil {
				b.waiting[name] = map[types.UID]*v1alpha1.FluxJob{}
			}
			b.waiting[name][job.UID] = job
		}
		b.touch(job)
	}
}

// hide notes whether the viewer may see queues.
func (b *queueBook) hide(state *sourceState) {
	if state == nil || b.hidden == (state.State == stateForbidden) {
		return
	}
	b.hidden = !b.hidden
	for name := range b.waiting {
		b.touched[name] = true
	}
}

// release forgets who holds a share of a queue, nil if it isn't known.
func (b *queueBook) release(setup *v1alpha1.FluxSetup) {
	if setup == nil {
		return
	}
	for _, r := range setup.Status.Reservations {
		if key := (types.NamespacedName{Namespace: r.Namespace, Name: r.Name}); b.holders[key] == setup.Name {
			delete(b.holders, key)
		}
	}
}

// touch has the queues of a job written again.
func (b *queueBook) touch(job *v1alpha1.FluxJob) {
	for _, name := range []string{queuecmd.WaitsIn(job), job.Status.Queue, b.holders[client.ObjectKeyFromObject(job)]} {
		if name != "" {
			b.touched[name] = true
		}
	}
}

func (b *queueBook) forget(uid types.UID) {
	job := b.jobs[uid]
	if job == nil {
		return
	}
	b.touch(job)
	delete(b.jobs, uid)
	if key := client.ObjectKeyFromObject(job); b.byKey[key] == job {
		delete(b.byKey, key)
	}
	if name := queuecmd.WaitsIn(job); name != "" {
		if delete(b.waiting[name], uid); len(b.waiting[name]) == 0 {
			delete(b.waiting, name)
		}
	}
}

// changes returns the queues that differ from those sent before, and the removed ones.
func (b *queueBook) changes(now time.Time) (changed []queueView, gone []string) {
	forecasts := b.forecasts(now)
	for name := range b.touched {
		v, exists := b.view(name, forecasts)
		if !exists {
			if b.sent[name] != nil {
				gone = append(gone, name)
				delete(b.sent, name)
			}
			continue
		}
		text, err := json.Marshal(v)
		if err == nil && !bytes.Equal(text, b.sent[name]) {
			b.sent[name] = text
			changed = append(changed, v)
		}
	}
	clear(b.touched)
	slices.SortFunc(changed, func(a, b queueView) int { return compareNames(a.Name, b.Name) })
	slices.Sort(gone)
	return changed, gone
}

// forecasts simulates the touched queues. Those of their cohorts are touched as well: what one lends, another borrows.
func (b *queueBook) forecasts(now time.Time) map[types.NamespacedName]admission.Forecast {
	cohorts := map[string][]*v1alpha1.FluxSetup{} // by name; a queue without a cohort is alone, as "/NAME"
	key := func(setup *v1alpha1.FluxSetup) string { return cmp.Or(setup.Spec.Cohort, "/"+setup.Name) }
	for name := range b.touched {
		if setup := b.setups[name]; setup != nil {
			cohorts[key(setup)] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.setups)) {
		setup := b.setups[name]
		if of, ok := cohorts[key(setup)]; ok {
			cohorts[key(setup)] = append(of, setup)
			b.touched[name] = true
		}
	}
	all := map[types.NamespacedName]admission.Forecast{}
	for _, setups := range cohorts {
		maps.Copy(all, admission.Forecasts(setups, b.byKey, now))
	}
	return all
}

// view is a queue as it is now.
func (b *queueBook) view(name string, forecasts map[types.NamespacedName]admission.Forecast) (queueView, bool) {
	waiting := make([]*v1alpha1.FluxJob, 0, len(b.waiting[name]))
	for _, job := range b.waiting[name] {
		waiting = append(waiting, job)
	}
	setup := b.setups[name]
	switch {
	case setup == nil && len(waiting) == 0:
		return queueView{}, false
	case setup == nil:
		v := queueView{Queue: queuecmd.NewMissing(name, waiting), Pending: int32(len(waiting))} //nolint:gosec // at most maxObjects
		v.Hidden, v.Missing = b.hidden, !b.hidden
		v.addTimes(b.byKey, forecasts)
		return v, true
	}
	v := queueView{
		Queue: queuecmd.NewQueue(setup, b.byKey, waiting), Strategy: string(setup.Spec.QueueingStrategy), Cohort: setup.Spec.Cohort,
		Pending: setup.Status.PendingWorkloads,
	}
	for _, u := range setup.Status.Usage {
		share := 0.0
		if quota := u.Quota.AsApproximateFloat64(); quota > 0 {
			share = u.Used.AsApproximateFloat64() / quota
		}
		v.Usage = append(v.Usage, usageView{u, share})
	}
	v.addTimes(b.byKey, forecasts)
	return v, true
}

// addTimes adds when jobs end at the latest, and when those that wait are admitted.
func (v *queueView) addTimes(byKey map[types.NamespacedName]*v1alpha1.FluxJob, forecasts map[types.NamespacedName]admission.Forecast) {
	for _, h := range v.Queue.Admitted {
		of := admittedView{AdmittedJob: h}
		if job := byKey[types.NamespacedName{Namespace: h.Namespace, Name: h.Name}]; job != nil {
			if ends := admission.Deadline(job, h.Since); !ends.IsZero() {
				of.Ends = &ends
			}
		}
		v.Admitted = append(v.Admitted, of)
	}
	for _, w := range v.Queue.Waiting {
		of := waitingView{WaitingJob: w}
		switch forecast, ok := forecasts[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}]; {
		case !forecast.Admitted.IsZero():
			of.ETA = &forecast.Admitted
		case ok:
			of.ETAUnknown = forecast.Unknown
		case v.Hidden:
			of.ETAUnknown = "you may not list FluxSetups"
		case v.Missing:
			of.ETAUnknown = "the queue doesn't exist"
		case w.Position > 0:
			of.ETAUnknown = fmt.Sprintf("only the first %d jobs of a queue are forecast", v1alpha1.MaxFluxQueueEntries)
		default:
			of.ETAUnknown = "it isn't in the queue"
		}
		v.Waiting = append(v.Waiting, of)
	}
}

// streamQueues streams the queues, with the jobs of the namespaces that the viewer may see.
func (s *server) streamQueues(w http.ResponseWriter, r *http.Request, v *Viewer) {
	_, namespaces, err := s.asked(v.cluster.Client.RESTMapper(), r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	out := newStream(w, r)
	setups := read(v.hub, source{gvk: v1alpha1.GroupVersion.WithKind("FluxSetup")}, "setups", setupOf, out.wake)
	defer setups.close()
	var jobs []*reader[*v1alpha1.FluxJob]
	for _, namespace := range namespaces {
		from := source{gvk: v1alpha1.GroupVersion.WithKind("FluxJob"), namespace: namespace}
		reader := read(v.hub, from, "queued", fluxJobOf, out.wake)
		defer reader.close()
		jobs = append(jobs, reader)
	}
	book := newQueueBook()
	out.run(v, func() bool {
		c := setups.take()
		out.source(c.state)
		synced := c.synced
		book.hide(c.state)
		book.take(c, changes[*v1alpha1.FluxJob]{})
		for _, reader := range jobs {
			j := reader.take()
			out.source(j.state)
			book.take(changes[*v1alpha1.FluxSetup]{}, j)
			synced = synced && j.synced
		}
		began := time.Now()
		changed, gone := book.changes(began.UTC().Truncate(time.Second))
		out.rest = busyShare * time.Since(began) // simulations take at most a tenth of the time, however many queues there are
		sendAll(out, "set", changed)
		sendAll(out, "gone", gone)
		return synced
	})
}
