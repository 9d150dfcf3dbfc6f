package builder_test

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/events"
)

// cluster is where the examples run: an API server in memory, with an owner in it.
type cluster struct {
	*buildertest.Client
	server *buildertest.Server
	engine *builder.Engine
	owner  *corev1.ConfigMap // any kind can be an owner; most operators have one of their own
}

func newCluster(objs ...client.Object) *cluster {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}}
	server := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(append(objs, owner, world.Node("n1"))...))
	c := &cluster{Client: server.Client("example"), server: server, owner: owner}
	c.engine = buildertest.NewEngine(c, builder.Options{Name: "example"}, buildertest.EngineOptions{Clock: c.Now})
	c.get(owner)
	return c
}

// get reads an object anew.
func (c *cluster) get(obj client.Object) {
	obj.SetNamespace("default")
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(obj), obj); err != nil {
		panic(err)
	}
}

// edit changes an object as someone else would.
func (c *cluster) edit(obj client.Object, patch string) {
	someone := c.server.Client("someone")
	if err := someone.Patch(context.Background(), obj, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		panic(err)
	}
}

// settle lets the rest of the cluster act: Deployments roll out.
func (c *cluster) settle() {
	if err := world.New(c.server, world.Options{}).Settle(context.Background()); err != nil {
		panic(err)
	}
}

// say prints what a pass did.
func say(res builder.Result, err error) {
	var did []string
	for _, change := range res.Changes {
		did = append(did, fmt.Sprint(change.Reason, " ", change.Key))
	}
	if res.Unchanged > 0 {
		did = append(did, fmt.Sprint(res.Unchanged, " unchanged"))
	}
	for _, child := range res.Pending {
		if child.Reason == events.ReasonWaiting {
			did = append(did, fmt.Sprint("waiting for ", child.Key))
		}
	}
	if len(did) > 0 {
		fmt.Println(strings.Join(did, ", "))
	}
	if err != nil {
		fmt.Println("error:", err)
	}
}

func settings(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: data}
}

func web(image string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: image}}},
			},
		},
	}
}
