package localnode

import (
	"context"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// goneGrace is how long containers get when their pod is not in the API any more.
const goneGrace = time.Second

// DeletePod ends a pod: within its grace period if the API waits for it, soon if
// the API has dropped it.
func (p *provider) DeletePod(_ context.Context, pod *corev1.Pod) error {
	t := p.find(pod.UID)
	inAPI := p.inAPI(pod.Namespace, pod.Name, pod.UID)
	switch {
	case t == nil && inAPI == nil:
		return errdefs.NotFoundf("pod %s/%s does not run on this node", pod.Namespace, pod.Name)
	case t == nil:
		// It was running when the node stopped, and was deleted meanwhile.
		return p.start(inAPI, func(t *tracked) {
			t.deleting = true
			t.Terminate(0)
		})
	case inAPI == nil:
		p.dropped(t)
	default:
		p.delete(t, inAPI)
	}
	return nil
}

// deleted is podClient's delete: virtual-kubelet believes that the pod is over.
func (p *provider) deleted(ctx context.Context, namespace, name string, uid types.UID) error {
	t := p.find(uid)
	if t == nil {
		return p.client.remove(ctx, namespace, name, uid)
	}
	if inAPI := p.inAPI(namespace, name, uid); inAPI != nil {
		p.delete(t, inAPI)
	}
	return nil
}

// delete ends a pod and then removes it from the API.
func (p *provider) delete(t *tracked, inAPI *corev1.Pod) {
	p.mu.Lock()
	t.deleting = true
	p.mu.Unlock()
	grace := goneGrace
	if s := inAPI.DeletionGracePeriodSeconds; s != nil {
		grace = max(grace, time.Duration(*s)*time.Second)
	}
	t.Update(inAPI)
	t.Terminate(grace)
	select {
	case <-t.Done():
		go p.remove(t)
	default: // ended removes it
	}
}

// remove writes the last status of a finished pod and deletes it from the API. A
// pod with finalizers stays there, with its status, until they are gone.
func (p *provider) remove(t *tracked) {
	p.mu.Lock()
	again := t.removing
	t.removing = true
	p.mu.Unlock()
	if again {
		return
	}
	p.persist("remove pod "+t.name.String()+" from the API", func() error {
		if err := p.client.writeStatus(p.ctx, t.Object()); err != nil {
			return err
		}
		return p.client.remove(p.ctx, t.name.Namespace, t.name.Name, t.uid)
	}) // its directory goes when the API has dropped it
}

// dropped ends a pod that the API does not have any more.
func (p *provider) dropped(t *tracked) {
	p.mu.Lock()
	again := t.gone
	t.gone = true
	p.mu.Unlock()
	t.Terminate(goneGrace)
	select {
	case <-t.Done():
		if !again {
			p.clean(t)
		}
	default: // ended cleans up
	}
}
