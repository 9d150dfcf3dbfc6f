package world_test

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// A Job whose first pod runs out of memory after two minutes, and whose second one succeeds. Nothing waits for real time.
func Example() {
	ctx := context.Background()
	server := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(node("n1"), job(nil)))
	w := world.New(server, world.Options{})
	for pods, script := range map[string]world.Script{
		"demo-1": {Ends: true, Run: 2 * time.Minute, OutOfMemory: true},
		"demo-2": {Ends: true, Run: time.Minute},
	} {
		if err := w.Script(pods, script); err != nil {
			panic(err)
		}
	}
	for range 3 {
		if err := w.Wait(ctx, 2*time.Minute); err != nil {
			panic(err)
		}
		var job batchv1.Job
		if err := server.Client().Get(ctx, client.ObjectKey{Namespace: "default", Name: "demo"}, &job); err != nil {
			panic(err)
		}
		fmt.Println(w.Now().Sub(buildertest.Epoch), "active", job.Status.Active, "failed", job.Status.Failed, "succeeded", job.Status.Succeeded)
	}
	// Output:
	// 2m0s active 0 failed 1 succeeded 0
	// 4m0s active 0 failed 1 succeeded 1
	// 6m0s active 0 failed 1 succeeded 1
}

// A test can choose what happens next.
func ExampleWorld_Steps() {
	w := world.New(buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(node("n1"), job(nil))), world.Options{})
	for range 4 {
		steps, err := w.Steps()
		if err != nil {
			panic(err)
		}
		fmt.Println(steps[0])
		if err := steps[0].Run(context.Background()); err != nil {
			panic(err)
		}
	}
	// Output:
	// job-controller: create Pod default/demo-1
	// scheduler: bind Pod default/demo-1
	// kubelet: update the status of Pod default/demo-1
	// job-controller: update the status of Job default/demo
}
