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
	client     client.WithWatch
	namespace  string
	stream     watch.Interface // of what is served
	configMaps watch.Interface
	n          int
}

func newProber(ctx context.Context, c client.WithWatch, p probe, namespace string) (*prober, error) {
	stream, err := lab.Watch(ctx, c, p.list(), namespace)
	if err != nil {
		return nil, err
	}
	configMaps, err := lab.Watch(ctx, c, &corev1.ConfigMapList{}, namespace)
	if err != nil {
		stream.Stop()
		return nil, err
	}
	return &prober{probe: p, client: c, namespace: namespace, stream: stream, configMaps: configMaps}, nil
}

func (p *prober) stop() {
	p.stream.Stop()
	p.configMaps.Stop()
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

// minimal does what any operator must for such an object, with ConfigMaps that no manager looks at: it sees one in a watch, creates
// another, and waits for the event of that one. It returns how long that took from the creation of the first: what the API server
// makes everyone wait.
func (p *prober) minimal(ctx context.Context) (time.Duration, error) {
	first, second := fmt.Sprintf("seen-%d", p.n), fmt.Sprintf("made-%d", p.n)
	if err := p.client.Create(ctx, p.configMap(first)); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := p.sees(ctx, first); err != nil {
		return 0, err
	}
	if err := p.client.Create(ctx, p.configMap(second)); err != nil {
		return 0, err
	}
	err := p.sees(ctx, second)
	return time.Since(start), err
}

func (p *prober) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}
}

// sees waits for the event of a ConfigMap.
func (p *prober) sees(ctx context.Context, name string) error {
	for {
		select {
		case event, ok := <-p.configMaps.ResultChan():
			if !ok {
				return fmt.Errorf("the watch ended before ConfigMap %s was seen: %w", name, ctx.Err())
			}
			seen, ok := event.Object.(client.Object)
			if !ok {
				return fmt.Errorf("the watch for ConfigMap %s: %v", name, event.Object)
			}
			if seen.GetName() == name {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// times are what probes took, and the minimal operator in turns with them.
type times struct{ served, minimal []time.Duration }

// until creates probes until done is closed, and at least so many; none any more once the manager has ended.
func (p *prober) until(ctx context.Context, done, ended <-chan struct{}, atLeast int) (all times, err error) {
	for {
		served, err := p.one(ctx, ended)
		if err != nil {
			return all, err
		}
		minimal, err := p.minimal(ctx)
		if err != nil {
			return all, fmt.Errorf("the minimal operator: %w", err)
		}
		all.served, all.minimal = append(all.served, served), append(all.minimal, minimal)
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
