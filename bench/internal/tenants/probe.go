package tenants

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// tenants are the namespaces, and the names of the queues, of the two tenants. Each attack has its own.
type tenants struct{ victim, attacker string }

func tenantsOf(attack string) tenants {
	return tenants{victim: "victim-" + attack, attacker: "attacker-" + attack}
}

// probeTimeout bounds each probe: a longer one counts as so long.
const probeTimeout = time.Minute

// prober creates probes one after another.
type prober struct {
	kind
	client     client.WithWatch
	namespace  string
	stream     watch.Interface // of what is served
	configMaps watch.Interface
	n          int
}

func newProber(ctx context.Context, c client.WithWatch, k kind, namespace string) (*prober, error) {
	stream, err := lab.Watch(ctx, c, k.list(), namespace)
	if err != nil {
		return nil, err
	}
	configMaps, err := lab.Watch(ctx, c, &corev1.ConfigMapList{}, namespace)
	if err != nil {
		stream.Stop()
		return nil, err
	}
	return &prober{kind: k, client: c, namespace: namespace, stream: stream, configMaps: configMaps}, nil
}

func (p *prober) stop() {
	p.stream.Stop()
	p.configMaps.Stop()
}

// one creates an object, and returns how long it took from the request until it was served: [probeTimeout] if it wasn't, or if ended says
// earlier that nobody will. The clock starts before the request, because its response often comes after the operator has begun: a watch is
// as quick.
func (p *prober) one(ctx context.Context, ended <-chan struct{}) (time.Duration, error) {
	p.n++
	name := fmt.Sprintf("probe-%d", p.n)
	obj := p.object(p.namespace, name)
	start := time.Now()
	if err := p.client.Create(ctx, obj); err != nil {
		return 0, fmt.Errorf("create probe %s: %w", name, err)
	}
	timeout := time.NewTimer(probeTimeout)
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
			return probeTimeout, nil
		case <-ended:
			return probeTimeout, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// minimal does what any operator must for such an object, with ConfigMaps that no manager looks at: it sees one in a watch, creates
// another, and waits for the event of that one. It returns how long that took from the request for the first: what the API
// server makes everyone wait.
func (p *prober) minimal(ctx context.Context) (time.Duration, error) {
	first, second := fmt.Sprintf("seen-%d", p.n), fmt.Sprintf("made-%d", p.n)
	start := time.Now()
	if err := p.client.Create(ctx, p.configMap(first)); err != nil {
		return 0, err
	}
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

// both adds the time of a probe, and that of the minimal operator after it.
func (p *prober) both(ctx context.Context, ended <-chan struct{}, all *times) error {
	served, err := p.one(ctx, ended)
	if err != nil {
		return err
	}
	minimal, err := p.minimal(ctx)
	if err != nil {
		return fmt.Errorf("the minimal operator: %w", err)
	}
	all.served, all.minimal = append(all.served, served), append(all.minimal, minimal)
	return nil
}

// alone creates n probes while no one attacks. One that isn't served is an error: there is nothing to compare with.
func (p *prober) alone(ctx context.Context, ended <-chan struct{}, n int) (all times, err error) {
	for range n {
		if err := p.both(ctx, ended, &all); err != nil {
			return all, err
		}
		if slices.Contains(all.served, probeTimeout) {
			return all, fmt.Errorf("%s probe-%d wasn't served, and no one attacks", p.name, p.n)
		}
	}
	return all, nil
}

// until creates probes until done is closed, and at least so many; none any more once the manager has ended.
func (p *prober) until(ctx context.Context, done, ended <-chan struct{}, atLeast int) (all times, err error) {
	for {
		if err := p.both(ctx, ended, &all); err != nil {
			return all, err
		}
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
