package builder_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// installed is the object that says which program is installed. Its text is the program's image.
var installed = &corev1.ConfigMap{
	ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "program"}, Data: map[string]string{"image": "web:1"},
}

// upgradable is a process that is replaced when another program is installed.
type upgradable struct {
	c     *buildertest.Client
	image string
	reconcile.Reconciler
}

func (u *upgradable) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var program corev1.ConfigMap
	if err := u.c.Live().Get(ctx, client.ObjectKeyFromObject(installed), &program); err != nil {
		return reconcile.Result{}, err
	}
	if image := program.Data["image"]; image != u.image {
		p := one
		p.build, p.image = image, image
		var err error
		if u.Reconciler, err = operatorOf(p, u.c, u.c.Now); err != nil {
			return reconcile.Result{}, err
		}
		u.image = image
	}
	return u.Reconciler.Reconcile(ctx, req)
}

// Upgrades, and a rollback in the middle of one, reach the same end wherever the process crashes.
func TestReleaseSurvivesCrashes(t *testing.T) {
	install := func(image string) buildertest.Edit {
		return buildertest.Change(installed, func(cm *corev1.ConfigMap) { cm.Data["image"] = image })
	}
	breaks := func(pod *corev1.Pod) world.Script {
		return world.Script{Unready: pod.Spec.Containers[0].Image == "web:broken"}
	}
	scenario := buildertest.Scenario{
		Scheme:     flowScheme,
		Options:    []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})},
		Objects:    []client.Object{newFlow("a"), newFlow("canary:b"), newFlow("c"), installed.DeepCopy(), world.Node("n1")},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) { return &upgradable{c: c}, nil },
		Requests:   []reconcile.Request{{NamespacedName: key("a")}, {NamespacedName: key("b")}, {NamespacedName: key("c")}},
		Cluster:    world.Cluster(world.Options{Pods: breaks}),
		Then: []buildertest.Edit{
			install("web:2"),
			install("web:broken"),
			buildertest.Change(newFlow("c"), func(flow *v1alpha1.JobFlow) { flow.Spec.Flows[0].Name = "large" }),
			install("web:2"),
		},
		Normalize: func(obj *unstructured.Unstructured) bool {
			switch obj.GetKind() {
			case "ConfigMap": // the ID has a time
				delete(obj.Object["data"].(map[string]any), "id")
			case "JobFlow":
				unstructured.RemoveNestedField(obj.Object, "status", "conditions")
			}
			return true
		},
	}
	buildertest.CrashEverywhere(t, scenario)

	server := buildertest.Settle(t, scenario)
	var changed []string
	for _, call := range server.Ledger().Writes() {
		if apply, ok := strings.CutPrefix(call.String(), "apply Deployment.apps default/"); ok && !call.DryRun && call.Changed {
			changed = append(changed, apply)
		}
	}
	assert.Equal(t, []string{
		"b", "c", "a", // web:2, the canary first
		"b",      // web:broken, which halts
		"c",      // the user's change
		"b", "c", // back to web:2; a has never left it
	}, changed)
}
