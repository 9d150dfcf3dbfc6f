package builder_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// crowd is many owners whose Jobs are made from one template.
type crowd struct {
	*stage
	requests []reconcile.Request
	image    string // of the template
}

func newCrowd(t *testing.T, n int, change func(*batchv1.Job, string)) *crowd {
	c := &crowd{image: "a"}
	var owners []client.Object
	for i := range n {
		owner := newOwner()
		owner.Name, owner.UID = fmt.Sprint("owner", i), types.UID(fmt.Sprint("uid", i))
		owners = append(owners, owner)
		c.requests = append(c.requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
	}
	server := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(owners...))
	c.stage = &stage{t: t, server: server, ours: server.Client("operator"), others: server.Client("others")}
	var err error
	c.reconciler, err = buildertest.NewReconciler(describedBy(func(owner *appsv1.Deployment, _ builder.View) ownerPlan {
		job := newJob(owner.Name + "-job")
		job.Labels = map[string]string{"owner": owner.Name}
		job.Spec.Template.Labels = map[string]string{"owner": owner.Name}
		job.Annotations = map[string]string{"example.com/owner": owner.Name}
		job.Spec.Template.Spec.Containers[0].Image = c.image
		if change != nil {
			change(job, owner.Name)
		}
		return ownerPlan{Children: []builder.Child{builder.Want(job, builder.CreateOnly())}, Report: false}
	}, nil), c.ours, c.ours.Now)
	require.NoError(t, err)
	return c
}

// refuse lets the API server call all Jobs invalid.
func (c *crowd) refuse(path *field.Path) {
	c.ours.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: func(call buildertest.Call) error {
		return apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, call.Name, field.ErrorList{field.Invalid(path, "x", "no")})
	}})
}

// all runs a pass over each owner, and returns how many Jobs were sent to the API server.
func (c *crowd) all() (created int, results []reconcile.Result, errs []error) {
	c.ours.Ledger().Reset()
	for _, r := range c.requests {
		res, err := c.reconciler.Reconcile(c.t.Context(), r)
		results, errs = append(results, res), append(errs, err)
	}
	for _, call := range c.ours.Ledger().Writes() {
		if call.Verb == buildertest.VerbCreate {
			created++
		}
	}
	return created, results, errs
}

var podImage = field.NewPath("spec", "template", "spec", "containers").Index(0).Child("image")

// What was called invalid is tried once for all owners that share it, and once more for another template.
func TestRefusedOnceForAll(t *testing.T) {
	c := newCrowd(t, 50, nil)
	c.refuse(podImage)
	created, results, errs := c.all()
	assert.Equal(t, 1, created)
	require.ErrorContains(t, errs[0], `Job.batch "owner0-job" is invalid: spec.template.spec.containers[0].image: Invalid value: "x": no`)
	assert.Zero(t, results[0], "it was told by the API server itself")
	for i, err := range errs[1:] {
		require.NoError(t, err, "an error would forget when to look again")
		assert.Equal(t, time.Minute, results[i+1].RequeueAfter, "it may differ from its equal")
	}
	created, _, _ = c.all()
	assert.Zero(t, created, "nothing has changed")

	c.image = "b"
	created, _, _ = c.all()
	assert.Equal(t, 1, created, "another template is tried")

	c.server.Clock().Step(time.Minute)
	created, results, _ = c.all()
	assert.Equal(t, 1, created, "the answer holds for a minute")
	assert.Equal(t, 2*time.Minute, results[1].RequeueAfter, "and twice as long the next time")

	c.ours.Heal()
	c.server.Clock().Step(2 * time.Minute)
	created, _, errs = c.all()
	assert.Equal(t, 50, created)
	assert.NoError(t, errors.Join(errs...))
}

// Who is spared the request is told the same.
func TestRefusedReadsTheSame(t *testing.T) {
	c := newCrowd(t, 2, nil)
	c.refuse(podImage)
	var told []string
	engine := buildertest.NewEngine(c.ours, builder.Options{}, buildertest.EngineOptions{Clock: c.ours.Now})
	for _, r := range c.requests {
		owner := &appsv1.Deployment{}
		require.NoError(t, c.ours.Get(t.Context(), r.NamespacedName, owner))
		_, err := engine.For(owner).Object(newJob(owner.Name + "-job")).Reconcile(t.Context())
		assert.True(t, builder.IsTerminal(err))
		assert.True(t, apierrors.IsInvalid(err))
		about := (*builder.Error)(nil)
		require.ErrorAs(t, err, &about)
		assert.Equal(t, []string{podImage.String()}, about.Fields())
		told = append(told, strings.ReplaceAll(err.Error(), owner.Name, "owner"))
	}
	assert.Len(t, c.ours.Ledger().Writes(), 1)
	assert.Equal(t, told[0], told[1])
}

// What an answer may depend on keeps it from being shared.
func TestRefusedForOneself(t *testing.T) {
	policy := func(call buildertest.Call) error {
		err := apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, call.Name, field.ErrorList{field.Invalid(podImage, "x", "no")})
		err.ErrStatus.Message = `admission webhook "w" denied the request: no`
		return err
	}
	for name, c := range map[string]struct {
		change func(*batchv1.Job, string)
		fail   func(buildertest.Call) error
		path   *field.Path
	}{
		"about the name":                  {path: field.NewPath("metadata", "name")},
		"about labels of pods":            {path: field.NewPath("spec", "template", "metadata", "labels")},
		"about labels that have the name": {path: field.NewPath("spec", "template", "labels")},
		"about what selects labels":       {path: field.NewPath("spec", "selector")},
		"about nothing in particular":     {path: field.NewPath("<nil>")},
		"by an admission webhook":         {fail: policy},
		"another payload":                 {path: podImage, change: func(j *batchv1.Job, owner string) { j.Spec.Template.Spec.Containers[0].Command = []string{owner} }},
		"another annotation of Kubernetes": {path: podImage, change: func(j *batchv1.Job, owner string) {
			j.Spec.Template.Annotations = map[string]string{"container.apparmor.security.beta.kubernetes.io/c": owner}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			crowd := newCrowd(t, 5, c.change)
			if c.fail != nil {
				crowd.ours.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: c.fail})
			} else {
				crowd.refuse(c.path)
			}
			created, _, _ := crowd.all()
			assert.Equal(t, 5, created)
		})
	}
}

// A Service is invalid while another one has its address, and must be tried when that has gone.
func TestRefusedServiceIsTriedAgain(t *testing.T) {
	c := newCrowd(t, 1, nil)
	c.ours.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: func(call buildertest.Call) error {
		taken := field.Invalid(field.NewPath("spec", "clusterIPs"), []string{"10.0.0.7"}, "provided IP is already allocated")
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, call.Name, field.ErrorList{taken})
	}})
	engine := buildertest.NewEngine(c.ours, builder.Options{}, buildertest.EngineOptions{Clock: c.ours.Now})
	owner := &appsv1.Deployment{}
	require.NoError(t, c.ours.Get(t.Context(), c.requests[0].NamespacedName, owner))
	service := func() *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
			ClusterIP: "10.0.0.7", Ports: []corev1.ServicePort{{Port: 80}},
		}}
	}
	_, err := engine.For(owner).Service(service()).Reconcile(t.Context())
	require.ErrorContains(t, err, "already allocated")
	c.ours.Heal()
	res, err := engine.For(owner).Service(service()).Reconcile(t.Context())
	require.NoError(t, err)
	assert.Len(t, res.Changes, 1)
}

// A preview asks for itself.
func TestRefusedIsNoDryRun(t *testing.T) {
	c := newCrowd(t, 2, nil)
	c.refuse(podImage)
	engine := buildertest.NewEngine(c.ours, builder.Options{}, buildertest.EngineOptions{Clock: c.ours.Now})
	diff := func(i int) int {
		owner := &appsv1.Deployment{}
		require.NoError(t, c.ours.Get(t.Context(), c.requests[i].NamespacedName, owner))
		c.ours.Ledger().Reset()
		_, err := engine.For(owner).Object(newJob(owner.Name + "-job")).Diff(t.Context())
		require.Error(t, err)
		return len(c.ours.Ledger().Calls())
	}
	assert.Equal(t, diff(0), diff(1))
}
