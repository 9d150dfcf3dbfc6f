package minicluster

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// soon is when to look again at what this very pass writes into the status.
const soon = time.Millisecond

// coalesce is how long a count in the status may lag behind, so that a thousand pods don't cause a thousand writes.
const coalesce = time.Second

// Planner makes plans. Its certificates are the only thing that plans don't get from the owner and the view: they are
// random. That does no harm: one is made only while the cluster has no Secret, and what is made of it is created once,
// and never compared.
type Planner struct {
	// NewCertificate makes a certificate of a name. Required; see [NewCertificate].
	NewCertificate func(name string) []byte
}

// planning is a plan in the making.
type planning struct {
	Planner
	c      *v1alpha1.MiniCluster
	seen   builder.View
	scene  scene
	status *v1alpha1.MiniClusterStatus
	plan   builder.Plan[*v1alpha1.MiniCluster]
	// invalid is true for a spec that can't be carried out: nothing is made of it, and what runs is only watched and stopped.
	invalid bool
}

// Plan says what a cluster should have now, and what its status is. It is a [builder.PlanFunc].
func (p Planner) Plan(c *v1alpha1.MiniCluster, seen builder.View) builder.Plan[*v1alpha1.MiniCluster] {
	if !lifecycle.IsOurs(c.Spec.ManagedBy) {
		return builder.Plan[*v1alpha1.MiniCluster]{}
	}
	w := &planning{Planner: p, c: c, seen: seen, scene: look(c, seen), status: c.Status.DeepCopy()}
	switch {
	case c.DeletionTimestamp != nil:
		w.terminate()
	case c.Status.CompletionTime != nil:
		w.afterwards()
	default:
		if problems := validate(c); len(problems) > 0 {
			w.invalid = true
			w.refuse(problems)
		} else {
			w.tellOfIgnored()
			w.prepare()
			w.proceed()
		}
	}
	return w.done()
}

// proceed is what there is to do for a cluster that hasn't ended.
func (w *planning) proceed() {
	switch job := w.scene.job; {
	case w.c.Spec.Suspend && (job == nil || isQueued(w.c)):
		w.withdraw()
	case job == nil:
		w.start()
	case job.DeletionTimestamp != nil: // a Job of this name can be made once it is gone
		w.describe()
	case attempt(job) < w.status.Restarts:
		w.clear()
	case outcome.Of(job).Phase == outcome.Succeeded:
		w.succeed()
	case outcome.Of(job).Phase == outcome.Failed:
		if w.scene.leaderEnd(w.c) != nil {
			w.noteWorkers()
		}
		w.retry(w.blame(failureOf(w.c, w.scene)))
	case isSuspended(job):
		w.hold()
	default:
		w.run()
	}
}

// prepare wants what the pods need. Kubernetes would let a pod without its ConfigMap wait, but looks for it again only
// seconds later, so the Job comes when everything else is there.
func (w *planning) prepare() {
	c := w.c
	w.want(builder.Want(scriptsMap(c)), builder.Want(headlessService(c)))
	if !c.Spec.Flux.Disable {
		w.want(builder.Want(configMap(c)), w.certificate())
	}
	if len(c.Spec.Services) > 0 && !c.Spec.Suspend {
		w.want(builder.Want(services(c)))
	}
	w.plan.Prune = []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{}, &appsv1.Deployment{}}
}

func (w *planning) want(children ...builder.Child) {
	w.plan.Children = append(w.plan.Children, children...)
}

// certificate wants the Secret: that of the spec, the one that exists, or a new one.
func (w *planning) certificate() builder.Child {
	if own := w.c.Spec.Flux.CurveCert; own != "" {
		return builder.Want(curveSecret(w.c, []byte(own)))
	}
	if secret := named[*corev1.Secret](w.seen, curveName(w.c)); secret != nil {
		return builder.Want(curveSecret(w.c, secret.Data[curveKey]), builder.CreateOnly())
	}
	return builder.Want(curveSecret(w.c, w.NewCertificate(w.c.Name)), builder.CreateOnly())
}

// isPrepared reports whether all that the pods need is there.
func (w *planning) isPrepared() bool {
	c := w.c
	ready := named[*corev1.ConfigMap](w.seen, scriptsName(c)) != nil && named[*corev1.Service](w.seen, headlessName(c)) != nil &&
		(len(c.Spec.Services) == 0 || named[*appsv1.Deployment](w.seen, servicesName(c)) != nil)
	if c.Spec.Flux.Disable {
		return ready
	}
	return ready && named[*corev1.ConfigMap](w.seen, configName(c)) != nil && named[*corev1.Secret](w.seen, curveName(c)) != nil
}

// named returns the owner's child of a name, nil if there is none that stays.
func named[T client.Object](seen builder.View, name string) (child T) {
	if found, ok := builder.Lookup[T](seen, name); ok && found.GetDeletionTimestamp() == nil {
		return found
	}
	return child
}

// done returns the plan, with the status if it is news.
func (w *planning) done() builder.Plan[*v1alpha1.MiniCluster] {
	w.status.ObservedGeneration = w.c.Generation
	if equality.Semantic.DeepEqual(w.status, &w.c.Status) {
		return w.plan
	}
	owner := *w.c
	owner.Status = *w.status
	w.plan.Status = &owner
	if w.status.State == w.c.Status.State && len(w.plan.Events) == 0 && sameConditions(w.status, &w.c.Status) && sameMilestones(w.status, &w.c.Status) {
		w.plan.StatusCanWait = coalesce
	}
	return w.plan
}

func (w *planning) tell(told ...events.Event) { w.plan.Events = append(w.plan.Events, told...) }

// again asks for another pass.
func (w *planning) again(after time.Duration) {
	w.plan.RequeueAfter = lifecycle.Soonest(w.plan.RequeueAfter, after)
}

func isSuspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }
