package tenants

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// sizes are how much of each attack is made.
type sizes struct {
	fluxJobs, flows, sharing int           // objects
	others                   int           // objects of each other kind
	bombs, nodes             int           // flows of expressions or lists, and nodes of each
	last                     time.Duration // how long those attacks go on that have no other end
}

// attack is what an attacker does. run returns once all is sent; what a server refuses is no error.
type attack struct {
	name  string // in the table, with its size
	short string // for -only
	probe kind
	run   func(ctx context.Context, on *target) error
}

// target is what an attacker reaches.
type target struct {
	client    client.Client // with the rights of the attacker's namespace
	manager   *process
	namespace string
	queue     string // of the victim's FluxJobs
}

// bomb is an expression of 10,000 steps within the limits of one expression.
const bomb = "![0,1,2,3,4,5,6,7,8,9].all(a,[0,1,2,3,4,5,6,7,8,9].all(b,[0,1,2,3,4,5,6,7,8,9].all(c,[0,1,2,3,4,5,6,7,8,9].all(d,true))))"

func attacks(n sizes) []attack {
	return []attack{
		{
			fmt.Sprintf("%d JobFlows of %d expressions that take long", n.bombs, n.nodes), "cel", jobFlow,
			func(ctx context.Context, on *target) error {
				return on.create(ctx, n.bombs, func(i int) client.Object { return bombFlow(on.namespace, i, n.nodes) })
			},
		},
		{
			fmt.Sprintf("%d JobFlows of %d lists of 999 items", n.bombs, n.nodes/50), "foreach", jobFlow,
			func(ctx context.Context, on *target) error {
				return on.create(ctx, n.bombs, func(i int) client.Object { return listFlow(on.namespace, i, n.nodes/50) })
			},
		},
		busy(fluxJob, n.fluxJobs),
		{
			fmt.Sprintf("%d FluxJobs of the highest priority in the other tenant's queue, which doesn't select them", n.fluxJobs), "queue", fluxJob,
			func(ctx context.Context, on *target) error {
				return on.create(ctx, n.fluxJobs, func(i int) client.Object {
					job := makeFluxJob(on.namespace, nameOf(i), on.queue)
					job.Spec.Priority = ptr.To[int32](math.MaxInt32)
					return job
				})
			},
		},
		busy(jobFlow, n.flows), busy(replicaJob, n.others), busy(daemonJob, n.others), busy(miniCluster, n.others),
		{
			fmt.Sprintf("%d JobFlows share a JobTemplate that the API server refuses, changed 5 times a second", n.sharing), "template", jobFlow,
			func(ctx context.Context, on *target) error { return on.shareTemplate(ctx, n.sharing, n.last) },
		},
		{
			"requests for metrics with bad tokens, 8 at a time", "metrics", jobFlow,
			func(ctx context.Context, on *target) error {
				return repeat(ctx, 8, n.last, func(ctx context.Context, i int) { on.askForMetrics(ctx, i) })
			},
		},
		{
			"reviews of 3.9 MB at the webhook, 3 at a time", "webhook", jobFlow,
			func(ctx context.Context, on *target) error {
				body := review()
				return repeat(ctx, 3, n.last, func(ctx context.Context, _ int) { on.review(ctx, body) })
			},
		},
	}
}

// busy is the attack of a tenant with n objects of a kind.
func busy(k kind, n int) attack {
	return attack{
		fmt.Sprintf("%d %ss", n, k.name), strings.ToLower(k.name) + "s", k,
		func(ctx context.Context, on *target) error {
			return on.create(ctx, n, func(i int) client.Object { return k.object(on.namespace, nameOf(i)) })
		},
	}
}

// nameOf is the name of the attacker's i-th object.
func nameOf(i int) string { return "o" + strconv.Itoa(i) }

// bombFlow is a flow whose nodes have expressions that take long, each a little different, so that none is compiled for another.
func bombFlow(namespace string, i, nodes int) *v1alpha1.JobFlow {
	flow := makeFlow(namespace, "bomb"+strconv.Itoa(i))
	flow.Spec.JobRetention = v1alpha1.RetainAll
	for node := range nodes {
		flow.Spec.Flows = append(flow.Spec.Flows, v1alpha1.Flow{
			Name: "n" + strconv.Itoa(node), JobTemplateRef: "none", When: bomb + strings.Repeat(" ", node%50),
		})
	}
	return flow
}

// listFlow is a flow of many lists of short items, of which hardly any may run at a time.
func listFlow(namespace string, i, nodes int) *v1alpha1.JobFlow {
	flow := makeFlow(namespace, "lists"+strconv.Itoa(i))
	flow.Spec.Parallelism = ptr.To[int32](16)
	items := make([]string, 999)
	for item := range items {
		items[item] = strconv.Itoa(item % 10)
	}
	for node := range max(nodes, 1) {
		flow.Spec.Flows = append(flow.Spec.Flows, v1alpha1.Flow{
			Name: "n" + strconv.Itoa(node), JobTemplate: jobSpec(), ForEach: &v1alpha1.ForEach{Items: items},
		})
	}
	return flow
}

// create creates n objects, 32 at a time.
func (on *target) create(ctx context.Context, n int, object func(i int) client.Object) error {
	var all sync.WaitGroup
	var once sync.Once
	var first error
	next := make(chan int)
	for range 32 {
		all.Go(func() {
			for i := range next {
				if err := on.client.Create(ctx, object(i)); err != nil && !isRefusal(err) {
					once.Do(func() { first = err })
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	return first
}

// isRefusal reports whether the API server answered that it won't have an object, or is too busy for an attacker.
func isRefusal(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// shareTemplate creates n flows that name one JobTemplate, whose Jobs the API server refuses, and changes that again and again.
func (on *target) shareTemplate(ctx context.Context, n int, last time.Duration) error {
	spec := jobSpec()
	spec.Template.Labels = map[string]string{"controller-uid": "someone"} // a Job's own label can't be set
	template := &v1alpha1.JobTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: on.namespace, Name: "shared"}, Spec: v1alpha1.JobTemplateSpec{JobTemplate: *spec},
	}
	template.Spec.JobTemplate.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"none": "such"}}
	template.Spec.JobTemplate.ManualSelector = new(true)
	if err := on.client.Create(ctx, template); err != nil {
		return err
	}
	if err := on.create(ctx, n, func(i int) client.Object {
		return makeFlow(on.namespace, nameOf(i), v1alpha1.Flow{Name: "a", JobTemplateRef: "shared"})
	}); err != nil {
		return err
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	end := time.After(last)
	for i := 0; ; i++ {
		select {
		case <-tick.C:
			patch := fmt.Appendf(nil, `{"spec":{"jobTemplate":{"activeDeadlineSeconds":%d}}}`, 1000+i)
			err := on.client.Patch(ctx, template.DeepCopy(), client.RawPatch("application/merge-patch+json", patch))
			if err != nil && !isRefusal(err) {
				return err
			}
		case <-end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// repeat does something again and again for a time, so many at once.
func repeat(ctx context.Context, atOnce int, last time.Duration, do func(ctx context.Context, i int)) error {
	ctx, cancel := context.WithTimeout(ctx, last)
	defer cancel()
	var all sync.WaitGroup
	for worker := range atOnce {
		all.Go(func() {
			for i := worker; ctx.Err() == nil; i += atOnce {
				do(ctx, i)
			}
		})
	}
	all.Wait()
	return nil
}

// askForMetrics asks with a token that no one has issued, another one each time. What is answered doesn't matter.
func (on *target) askForMetrics(ctx context.Context, i int) {
	on.send(ctx, http.MethodGet, on.manager.metrics, nil, fmt.Sprintf("Bearer no-such-token-%d", i))
}

func (on *target) review(ctx context.Context, body []byte) {
	on.send(ctx, http.MethodPost, on.manager.webhook, body, "")
}

func (on *target) send(ctx context.Context, method, url string, body []byte, authorization string) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	response, err := insecure.Do(req)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// review is an AdmissionReview of 3.9 MB: a JobFlow of as many expressions, each a different one, as fit.
func review() []byte {
	const size = 3_900_000
	var b bytes.Buffer
	b.WriteString(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE",` +
		`"kind":{"group":"api.practice.com","version":"v1alpha1","kind":"JobFlow"},"namespace":"attacker","name":"f","object":` +
		`{"apiVersion":"api.practice.com/v1alpha1","kind":"JobFlow","metadata":{"name":"f","namespace":"attacker"},"spec":{"flows":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"n%d","jobTemplateRef":"none","when":"%d<%d&&%s"}`, i, i, i+1, bomb)
	}
	b.WriteString(`]}}}}`)
	return b.Bytes()
}

// makeNamespaces creates the namespaces of both tenants, and the account that their pods have, for which there is no controller.
func makeNamespaces(ctx context.Context, c client.Client, of tenants) error {
	for _, name := range []string{of.victim, of.attacker} {
		if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
		if err := c.Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta(name, "default")}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// makeQueues creates a queue for each tenant, which selects only that one: the victim's admits all, the attacker's one at a time.
func makeQueues(ctx context.Context, c client.Client, of tenants) error {
	for _, name := range []string{of.victim, of.attacker} {
		setup := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name}}
		setup.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}}
		if name == of.attacker {
			setup.Spec.Quota.MiniClusters = ptr.To[int32](1)
		}
		if err := c.Create(ctx, setup); err != nil {
			return err
		}
	}
	return nil
}
