package replicas

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/replicajob"
)

// parallelism is how many requests the bare client has under way, as many as a Builder.
const parallelism = 32

// template is a pod that runs for a second on a simulated node.
func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"devcluster.armature.dev/run-time": "1s"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "main", Image: "busybox:1.28", Command: []string{"true"},
				Ports: []corev1.ContainerPort{{Name: "port", ContainerPort: 2222}}, // kubeflow's library needs one
			}},
		},
	}
}

// podTimes says when events of a namespace's pods arrived here.
type podTimes struct {
	created, succeeded map[string]bool
	lastCreated        time.Time
	lastSucceeded      time.Time
	gone               int
}

// watchPods begins to watch a namespace's pods; each event has the time at which it arrives. The function that it returns
// waits until they are as wanted.
func (w *world) watchPods(ctx context.Context, namespace string, enough func(*podTimes) bool) (func() (*podTimes, error), error) {
	pods := w.typed.CoreV1().Pods(namespace)
	now, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	stream, err := watchtools.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, options)
		},
	})
	if err != nil {
		return nil, err
	}
	times := &podTimes{created: map[string]bool{}, succeeded: map[string]bool{}}
	done := make(chan error, 1)
	go func() {
		defer stream.Stop()
		for !enough(times) {
			event, ok := <-stream.ResultChan()
			pod, isPod := event.Object.(*corev1.Pod)
			if !ok || !isPod {
				done <- fmt.Errorf("the watch of the pods in %s ended: %d created, %d succeeded, %d gone: %v",
					namespace, len(times.created), len(times.succeeded), times.gone, event.Object)
				return
			}
			times.see(event.Type, pod)
		}
		done <- nil
	}()
	return func() (*podTimes, error) {
		err := <-done
		return times, err
	}, nil
}

func (t *podTimes) see(kind watch.EventType, pod *corev1.Pod) {
	now := time.Now()
	if !t.created[pod.Name] {
		t.created[pod.Name], t.lastCreated = true, now
	}
	if pod.Status.Phase == corev1.PodSucceeded && !t.succeeded[pod.Name] {
		t.succeeded[pod.Name], t.lastSucceeded = true, now
	}
	if kind == watch.Deleted {
		t.gone++
	}
}

// bare makes n pods and a Service, and waits until the pods have succeeded.
func (w *world) bare(ctx context.Context, namespace string, n int) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait, err := w.watchPods(ctx, namespace, func(t *podTimes) bool { return len(t.succeeded) == n })
	if err != nil {
		return outcome{}, err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "bare"},
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{replicajob.LabelJob: "bare"}, PublishNotReadyAddresses: true,
		},
	}
	owner, err := w.typed.CoreV1().ConfigMaps(namespace).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}, metav1.CreateOptions{})
	if err != nil {
		return outcome{}, err
	}
	start := time.Now()
	if _, err := w.typed.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return outcome{}, err
	}
	next := make(chan int)
	errs := make([]error, parallelism)
	var workers sync.WaitGroup
	for i := range parallelism {
		workers.Go(func() {
			for index := range next {
				pod := barePod(owner, index)
				_, err := w.typed.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	for index := range n {
		next <- index
	}
	close(next)
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return outcome{}, err
	}
	times, err := wait()
	return outcome{created: times.lastCreated.Sub(start), succeeded: times.lastSucceeded.Sub(start)}, err
}

// barePod is the pod that a ReplicaJob's worker is, with as many labels and an owner, so that it costs the cluster as much.
func barePod(owner *corev1.ConfigMap, index int) *corev1.Pod {
	pod := template()
	pod.Name = "bare-worker-" + strconv.Itoa(index)
	pod.Labels = map[string]string{
		wellknown.LabelManagedBy: "bare", replicajob.LabelOperator: "bare", replicajob.LabelJob: "bare",
		replicajob.LabelType: "worker", replicajob.LabelIndex: strconv.Itoa(index), replicajob.LabelRole: "worker",
		replicajob.LabelRestartAttempt: "0", replicajob.LabelRestarts: "0",
	}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	pod.Spec.Hostname, pod.Spec.Subdomain, pod.Spec.RestartPolicy = pod.Name, "bare", corev1.RestartPolicyNever
	return &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
}
