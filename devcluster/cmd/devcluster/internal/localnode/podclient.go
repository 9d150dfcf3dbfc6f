package localnode

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pods"
)

// podClient is the API's pods as virtual-kubelet's pod controller sees them. Two
// of its calls would do harm and are done differently:
//
//   - It writes a status with an update of the whole pod as the provider knows it.
//     That brings back labels, annotations and finalizers that others have removed
//     meanwhile. UpdateStatus here patches the status alone, as the kubelet does,
//     and only on the pod with the same UID.
//   - It deletes a pod from the API when the grace period is over, or at once if
//     no container runs, whether or not the provider is done with it. Delete here
//     leaves that to the provider, which knows.
type podClient struct {
	client   kubernetes.Interface
	provider *provider

	mu      sync.Mutex
	written map[types.UID]*sync.Mutex
	last    map[types.UID]corev1.PodStatus // what the API has, as far as we know
}

var _ typedcorev1.PodsGetter = (*podClient)(nil)

func newPodClient(client kubernetes.Interface) *podClient {
	return &podClient{client: client, written: map[types.UID]*sync.Mutex{}, last: map[types.UID]corev1.PodStatus{}}
}

// Pods implements typedcorev1.PodsGetter.
func (c *podClient) Pods(namespace string) typedcorev1.PodInterface {
	return namespacedPods{PodInterface: c.client.CoreV1().Pods(namespace), client: c, namespace: namespace}
}

type namespacedPods struct {
	typedcorev1.PodInterface
	client    *podClient
	namespace string
}

func (n namespacedPods) UpdateStatus(ctx context.Context, pod *corev1.Pod, _ metav1.UpdateOptions) (*corev1.Pod, error) {
	return pod, n.client.writeStatus(ctx, pod)
}

func (n namespacedPods) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	if opts.Preconditions == nil || opts.Preconditions.UID == nil {
		return fmt.Errorf("pod %s/%s: a node deletes pods by UID only", n.namespace, name)
	}
	return n.client.provider.deleted(ctx, n.namespace, name, *opts.Preconditions.UID)
}

// writeStatus writes the pod's status. A pod that is gone, or was replaced by
// another of the same name, needs none: that is no error.
func (c *podClient) writeStatus(ctx context.Context, pod *corev1.Pod) error {
	c.mu.Lock()
	writing := c.written[pod.UID]
	if writing == nil {
		writing = &sync.Mutex{}
		c.written[pod.UID] = writing
	}
	c.mu.Unlock()
	writing.Lock()
	defer writing.Unlock()

	// The patch is the difference to what the API has. That is what the last
	// write returned; an informer may be behind it, and a patch from an older
	// state could leave something out.
	c.mu.Lock()
	base, known := c.last[pod.UID]
	c.mu.Unlock()
	if !known {
		current, err := c.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || (err == nil && current.UID != pod.UID) {
			return nil
		}
		if err != nil {
			return err
		}
		base = current.Status
	}
	if podutil.IsPodPhaseTerminal(base.Phase) {
		return nil // the end of a pod is not rewritten
	}
	status := *pod.Status.DeepCopy()
	status.Conditions = pods.MergeForeign(status.Conditions, base.Conditions)
	patch, err := statusPatch(pod.UID, base, status)
	if err != nil || patch == nil {
		return err
	}
	updated, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name,
		types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // a conflict is another UID
		return nil
	}
	if err != nil {
		c.forgetBase(pod.UID)
		return fmt.Errorf("write the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	c.mu.Lock()
	c.last[pod.UID] = updated.Status
	c.mu.Unlock()
	return nil
}

// statusPatch is the change from one status to the other, nil if there is none.
func statusPatch(uid types.UID, from, to corev1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(corev1.Pod{Status: from})
	if err != nil {
		return nil, err
	}
	unchanged, err := json.Marshal(corev1.Pod{Status: to})
	if err != nil {
		return nil, err
	}
	if string(before) == string(unchanged) {
		return nil, nil
	}
	// The UID only in the new object puts it into the patch, as a precondition.
	after, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}, Status: to})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
}

// seed says what the API has for a pod, to save the first write a read.
func (c *podClient) seed(pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[pod.UID] = *pod.Status.DeepCopy()
}

// remove deletes the pod from the API for good.
func (c *podClient) remove(ctx context.Context, namespace, name string, uid types.UID) error {
	opts := metav1.NewDeleteOptions(0)
	opts.Preconditions = metav1.NewUIDPreconditions(string(uid))
	err := c.client.CoreV1().Pods(namespace).Delete(ctx, name, *opts)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// forgetBase has the next write read the pod first.
func (c *podClient) forgetBase(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, uid)
}

// forget drops what is known of a pod that is gone.
func (c *podClient) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, uid)
	delete(c.written, uid)
}
