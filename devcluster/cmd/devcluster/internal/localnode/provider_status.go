package localnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// What can't be written to the API is tried again after persistFirst, and twice
// that each time, up to persistMost.
const (
	persistFirst = 50 * time.Millisecond
	persistMost  = 5 * time.Second
)

// report writes a status of a pod to the API. It returns when that is done, so a
// pod's statuses are written in order, and its end is known before it counts as
// ended. The pod goes on meanwhile and has its newest status written next.
func (p *provider) report(pod *corev1.Pod) {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	p.persist("report the status of pod "+name.String(), func() error {
		err := p.client.writeStatus(p.ctx, pod)
		if apierrors.IsInvalid(err) { // it will not be valid later either
			logger{}.WithError(err).Errorf("pod %s keeps its old status in the API", name)
			return nil
		}
		return err
	})
}

// persist tries something until it is done or the node stops.
func (p *provider) persist(what string, try func() error) {
	for wait := persistFirst; p.ctx.Err() == nil; wait = min(2*wait, persistMost) {
		err := try()
		if err == nil {
			return
		}
		logger{}.WithError(err).Errorf("%s", what)
		select {
		case <-p.ctx.Done():
		case <-time.After(wait):
		}
	}
}
