package logscmd

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// restarting is an API server with one Job. Its first watches end, and it answers the next requests with errors.
type restarting struct {
	mu              sync.Mutex
	watches         int
	onWatch, onList []error                // the answers after the first watches have ended
	outage          func(client.WithWatch) // what happens before new watches are open
}

// next takes the first of some errors if there are as many watches as the API server has ended, and more.
func (r *restarting) next(errs *[]error) error {
	if r.watches < 2 || len(*errs) == 0 {
		return nil
	}
	err := (*errs)[0]
	*errs = (*errs)[1:]
	return err
}

func (r *restarting) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Watch: func(_ context.Context, c client.WithWatch, _ client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if err := r.next(&r.onWatch); err != nil {
				return nil, err
			}
			r.watches++
			w := watch.NewRaceFreeFake()
			switch r.watches {
			case 1, 2: // of the pods and of the Job
				time.AfterFunc(10*time.Millisecond, w.Stop)
			case 3:
				if r.outage != nil {
					r.outage(c)
				}
			}
			return w, nil
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if err := r.next(&r.onList); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
	}
}

// follow follows the Job, and returns what the command says on standard error.
func (r *restarting) follow(t *testing.T) (errs string, err error) {
	t.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "1"}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	require.NoError(t, err)
	root := &unstructured.Unstructured{Object: content}
	root.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithObjects(job).Build()

	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, assert.AnError)
	defer cancel()
	var out, stderr bytes.Buffer
	s := &source{
		options: options{most: 1, tail: -1}, cluster: &connect.Cluster{Client: interceptor.NewClient(c, r.funcs())}, root: root, errs: &stderr,
	}
	err = s.followAll(ctx, &printer{out: &out})
	assert.Empty(t, out.String())
	return stderr.String(), err
}

func completeJob(c client.WithWatch) {
	job := &batchv1.Job{}
	_ = c.Get(context.Background(), client.ObjectKey{Namespace: "ns", Name: "j"}, job)
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	_ = c.Status().Update(context.Background(), job)
}

// An API server that restarts ends all watches, and refuses connections for a time.
func TestFollowOutlastsARestart(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	r := &restarting{
		onWatch: []error{refused, refused}, onList: []error{apierrors.NewServiceUnavailable("starting")}, outage: completeJob,
	}
	errs, err := r.follow(t)
	require.NoError(t, err)
	assert.Contains(t, errs, "watch pods: dial tcp: connection refused; repeating the request until the API server answers\n")
	assert.Contains(t, errs, "list Pod: starting; repeating the request until the API server answers\n")
	assert.Equal(t, 2, strings.Count(errs, "\n"), "each outage is said once: %s", errs)

	r = &restarting{onWatch: []error{apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)}}
	errs, err = r.follow(t)
	require.ErrorContains(t, err, "watch pods: pods is forbidden")
	assert.Empty(t, errs)
}

// No watch shows the deletion of an object between two watches.
func TestFollowEndsWithAnObjectThatIsDeletedMeanwhile(t *testing.T) {
	for name, outage := range map[string]func(client.WithWatch){
		"deleted": func(c client.WithWatch) {
			_ = c.Delete(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j"}})
		},
		"recreated": func(c client.WithWatch) {
			_ = c.Delete(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j"}})
			_ = c.Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "2"}})
		},
	} {
		_, err := (&restarting{outage: outage}).follow(t)
		require.NoError(t, err, name)
	}
}
