package replicas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	commonv1 "github.com/kubeflow/common/pkg/apis/common/v1"
	"github.com/kubeflow/common/pkg/controller.v1/common"
	"github.com/kubeflow/common/pkg/controller.v1/expectation"
	commonutil "github.com/kubeflow/common/pkg/util"
	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// kubeflow is a job operator as one writes it with kubeflow's library: what its interface asks for, and the loop around.
type kubeflow struct {
	common.JobController
	jobs   client.Reader // from the cache
	live   client.Client
	passes atomic.Int64
}

// startKubeflow runs the operator in this process until stop is called.
func startKubeflow(ctx context.Context, cfg *rest.Config) (o *operator, stop func() error, err error) {
	logrus.SetOutput(io.Discard)
	counter := &lab.Requests{}
	cfg = counter.Watch(cfg)
	scheme, err := newScheme()
	if err != nil {
		return nil, nil, err
	}
	// The library's events refer to their objects by the types that client-go knows.
	addKubeflow(clientgoscheme.Scheme)
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := cache.New(cfg, cache.Options{Scheme: scheme})
	if err != nil {
		return nil, nil, err
	}
	k := &kubeflow{jobs: jobs}
	if k.live, err = client.New(cfg, client.Options{Scheme: scheme}); err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(kube, 0)
	k.JobController = common.NewJobController(k, metav1.Duration{}, kube, common.GenNonGangSchedulerSetupFunc(), factory, "bench")
	ctx, cancel := context.WithCancel(ctx)
	if err := k.watch(ctx, factory, jobs); err != nil {
		cancel()
		return nil, nil, err
	}
	var running sync.WaitGroup
	running.Go(func() { k.work(ctx) })
	return &operator{
			counter: counter, job: newKubeflowJob,
			reconciles: func() (int, error) { return int(k.passes.Load()), nil },
			list:       func() client.ObjectList { return &kubeflowJobList{} },
			succeeded: func(obj runtime.Object) (bool, int) {
				job := obj.(*kubeflowJob)
				return commonutil.IsSucceeded(job.Status), size(job.Status)
			},
		}, func() error {
			cancel()
			k.WorkQueue.ShutDown()
			running.Wait()
			return nil
		}, nil
}

// watch starts the informers, with the library's handlers.
func (k *kubeflow) watch(ctx context.Context, factory informers.SharedInformerFactory, jobs cache.Cache) error {
	pods, services := factory.Core().V1().Pods(), factory.Core().V1().Services()
	k.PodLister, k.ServiceLister = pods.Lister(), services.Lister()
	go func() { _ = jobs.Start(ctx) }()
	own, err := jobs.GetInformer(ctx, &kubeflowJob{})
	if err != nil {
		return err
	}
	enqueue := func(obj any) {
		if key, err := common.KeyFunc(obj); err == nil {
			k.WorkQueue.Add(key)
		}
	}
	_, err1 := own.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }})
	_, err2 := pods.Informer().AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: k.AddPod, UpdateFunc: k.UpdatePod, DeleteFunc: k.DeletePod,
	})
	_, err3 := services.Informer().AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: k.AddService, UpdateFunc: k.UpdateService, DeleteFunc: k.DeleteService,
	})
	factory.Start(ctx.Done())
	if !jobs.WaitForCacheSync(ctx) || !toolscache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced, services.Informer().HasSynced) {
		return errors.New("the caches of kubeflow's operator did not fill")
	}
	return errors.Join(err1, err2, err3)
}

// work is the operators' loop, with one worker.
func (k *kubeflow) work(ctx context.Context) {
	for {
		key, quit := k.WorkQueue.Get()
		if quit {
			return
		}
		if err := k.reconcile(ctx, key.(string)); err != nil {
			k.WorkQueue.AddRateLimited(key)
		} else {
			k.WorkQueue.Forget(key)
		}
		k.WorkQueue.Done(key)
	}
}

func (k *kubeflow) reconcile(ctx context.Context, key string) error {
	namespace, name, err := toolscache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	job := &kubeflowJob{}
	if err := k.jobs.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, job); err != nil {
		return client.IgnoreNotFound(err)
	}
	pods, services := expectation.GenExpectationPodsKey(key, string(worker)), expectation.GenExpectationServicesKey(key, string(worker))
	// As its operators have it: either will do.
	if !k.Expectations.SatisfiedExpectations(pods) && !k.Expectations.SatisfiedExpectations(services) || job.DeletionTimestamp != nil {
		return nil
	}
	k.passes.Add(1)
	job = job.deepCopy()
	if job.Status.StartTime == nil {
		now := metav1.Now()
		job.Status.StartTime = &now
	}
	return k.ReconcileJobs(job, job.Spec.ReplicaSpecs, job.Status, &job.Spec.RunPolicy)
}

func (k *kubeflow) ControllerName() string                          { return "kubeflow" }
func (k *kubeflow) GetAPIGroupVersionKind() schema.GroupVersionKind { return kubeflowKind }
func (k *kubeflow) GetAPIGroupVersion() schema.GroupVersion         { return kubeflowGroupVersion }
func (k *kubeflow) GetGroupNameLabelValue() string                  { return kubeflowGroupVersion.Group }
func (k *kubeflow) GetDefaultContainerName() string                 { return "main" }
func (k *kubeflow) GetDefaultContainerPortName() string             { return "port" }

func (k *kubeflow) IsMasterRole(map[commonv1.ReplicaType]*commonv1.ReplicaSpec, commonv1.ReplicaType, int) bool {
	return false
}

func (k *kubeflow) SetClusterSpec(any, *corev1.PodTemplateSpec, string, string) error { return nil }

func (k *kubeflow) GetJobFromInformerCache(namespace, name string) (metav1.Object, error) {
	job := &kubeflowJob{}
	return job, k.jobs.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, job)
}

func (k *kubeflow) GetJobFromAPIClient(namespace, name string) (metav1.Object, error) {
	job := &kubeflowJob{}
	return job, k.live.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, job)
}

func (k *kubeflow) DeleteJob(job any) error {
	return k.live.Delete(context.Background(), job.(*kubeflowJob))
}

// UpdateJobStatus sets the conditions: what each of kubeflow's operators writes for itself.
func (k *kubeflow) UpdateJobStatus(_ any, replicas map[commonv1.ReplicaType]*commonv1.ReplicaSpec, status *commonv1.JobStatus) error {
	for name, spec := range replicas {
		seen := status.ReplicaStatuses[name]
		switch {
		case seen.Failed > 0:
			return commonutil.UpdateJobConditions(status, commonv1.JobFailed, commonutil.JobFailedReason, "a replica failed")
		case seen.Succeeded == *spec.Replicas:
			now := metav1.Now()
			status.CompletionTime = &now
			return commonutil.UpdateJobConditions(status, commonv1.JobSucceeded, commonutil.JobSucceededReason, "all replicas succeeded")
		case seen.Active > 0:
			return commonutil.UpdateJobConditions(status, commonv1.JobRunning, commonutil.JobRunningReason, "replicas are running")
		}
	}
	return nil
}

func (k *kubeflow) UpdateJobStatusInApiServer(job any, status *commonv1.JobStatus) error {
	changed := job.(*kubeflowJob).deepCopy()
	changed.Status = *status.DeepCopy()
	if err := k.live.Status().Update(context.Background(), changed); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("update the status of %s: %w", changed.Name, err)
	}
	return nil
}
