package tenants

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
)

// tenants are the namespaces, and the names of the queues, of the two tenants. Each attack has its own.
type tenants struct{ victim, attacker string }

func tenantsOf(attack string) tenants {
	return tenants{victim: "victim-" + attack, attacker: "attacker-" + attack}
}

// patience bounds each probe: a longer one counts as so long.
const patience = time.Minute

// probe is an object of the victim's, and how it is seen that it was served.
type probe struct {
	what   string
	list   func() client.ObjectList
	create func(namespace, name string) client.Object
	served func(obj client.Object) (name string, ok bool)
}

// jobSpec is a Job that needs nothing.
func jobSpec() *batchv1.JobSpec {
	return &batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28"}},
	}}}
}

var oneFlow = probe{
	what: "JobFlow",
	list: func() client.ObjectList { return &batchv1.JobList{} },
	create: func(namespace, name string) client.Object {
		return makeFlow(namespace, name, v1alpha1.Flow{Name: "a", JobTemplate: jobSpec()})
	},
	served: func(obj client.Object) (string, bool) {
		owner := metav1.GetControllerOfNoCopy(obj)
		if owner == nil {
			return "", false
		}
		return owner.Name, true
	},
}

var oneFluxJob = probe{
	what:   "FluxJob",
	list:   func() client.ObjectList { return &v1alpha1.FluxJobList{} },
	create: func(namespace, name string) client.Object { return makeFluxJob(namespace, name) },
	served: func(obj client.Object) (string, bool) {
		job, ok := obj.(*v1alpha1.FluxJob)
		return obj.GetName(), ok && job.Status.Admission != nil
	},
}

func makeFlow(namespace, name string, flows ...v1alpha1.Flow) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1alpha1.JobFlowSpec{Flows: flows}}
}

func makeFluxJob(namespace, name string) *v1alpha1.FluxJob {
	return &v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.FluxJobSpec{Image: "busybox:1.28", Command: "true", Queue: namespace},
	}
}

// prober creates probes one after another.
type prober struct {
	probe
	client    client.WithWatch
	namespace string
	stream    watch.Interface
	n         int
}

func newProber(ctx context.Context, c client.WithWatch, p probe, namespace string) (*prober, error) {
	stream, err := lab.Watch(ctx, c, p.list(), namespace)
	if err != nil {
		return nil, err
	}
	return &prober{probe: p, client: c, namespace: namespace, stream: stream}, nil
}

// one creates an object, and returns how long it took from then until it was served: [patience] if it wasn't, or if ended says earlier that
// nobody will.
func (p *prober) one(ctx context.Context, ended <-chan struct{}) (time.Duration, error) {
	p.n++
	name := fmt.Sprintf("probe-%d", p.n)
	obj := p.create(p.namespace, name)
	if err := p.client.Create(ctx, obj); err != nil {
		return 0, fmt.Errorf("create probe %s: %w", name, err)
	}
	start := time.Now()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case event, ok := <-p.stream.ResultChan():
			if !ok {
				return 0, fmt.Errorf("the watch ended before probe %s was served: %w", name, ctx.Err())
			}
			seen, ok := event.Object.(client.Object)
			if !ok {
				return 0, fmt.Errorf("the watch for probe %s: %v", name, event.Object)
			}
			if of, ok := p.served(seen); ok && of == name {
				return time.Since(start), nil
			}
		case <-timeout.C:
			return patience, nil
		case <-ended:
			return patience, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// bare creates an object that no manager looks at, and returns how long that took: what the API server makes everyone wait.
func (p *prober) bare(ctx context.Context) (time.Duration, error) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: fmt.Sprintf("bare-%d", p.n)}}
	start := time.Now()
	err := p.client.Create(ctx, object)
	return time.Since(start), err
}

// times are what probes took, and bare creates in turns with them.
type times struct{ served, bare []time.Duration }

// until creates probes until done is closed, and at least so many; none any more once the manager has ended.
func (p *prober) until(ctx context.Context, done, ended <-chan struct{}, atLeast int) (all times, err error) {
	for {
		served, err := p.one(ctx, ended)
		if err != nil {
			return all, err
		}
		bare, err := p.bare(ctx)
		if err != nil {
			return all, fmt.Errorf("a bare create: %w", err)
		}
		all.served, all.bare = append(all.served, served), append(all.bare, bare)
		select {
		case <-ended:
			return all, nil
		case <-done:
			if len(all.served) >= atLeast {
				return all, nil
			}
		default:
		}
	}
}
