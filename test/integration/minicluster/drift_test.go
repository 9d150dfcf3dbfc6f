package minicluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/minicluster"
)

// What someone changes of what a cluster has is put back, and at its end all of it goes.
func TestWhatSomeoneChangesIsPutBack(t *testing.T) {
	p := newPlace(t)
	p.manage()
	certificate := string(minicluster.NewCertificate("kept"))
	p.create("kept", 1, `while [ ! -e "$STANDIN/go" ]; do sleep 0.1; done`, withFlux(t, func(c *v1alpha1.MiniCluster) {
		c.Spec.Flux.CurveCert = certificate
		c.Spec.Cleanup = true
		c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "busybox:1.28", Command: "exec sleep 600"}}
	}))
	c := p.wait("kept", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterRunning) })

	scripts := &corev1.ConfigMap{ObjectMeta: p.meta("kept-entrypoint")}
	service := &corev1.Service{ObjectMeta: p.meta("kept")}
	secret := &corev1.Secret{ObjectMeta: p.meta("kept-curve")}
	beside := &appsv1.Deployment{ObjectMeta: p.meta("kept-services")}
	var script string
	for _, one := range []struct {
		obj    client.Object
		change func()
		isBack func() bool
	}{
		{scripts, func() {
			for name, text := range scripts.Data {
				script, scripts.Data[name] = text, "changed"
			}
		}, func() bool {
			for _, text := range scripts.Data {
				if text == "changed" {
					return false
				}
			}
			return script != ""
		}},
		{service, func() { service.Spec.PublishNotReadyAddresses = false }, func() bool { return service.Spec.PublishNotReadyAddresses }},
		{secret, func() { secret.Data["curve.cert"] = []byte("changed") }, func() bool { return string(secret.Data["curve.cert"]) == certificate }},
		{beside, func() { beside.Spec.Replicas = ptr.To[int32](0) }, func() bool { return *beside.Spec.Replicas == 1 }},
	} {
		p.Edit(one.obj, one.change)
		if one.obj == secret { // it isn't watched, so that the role needn't list Secrets: a pass that has another reason finds it
			p.Edit(c, func() { c.Spec.TTLSecondsAfterFinished = ptr.To[int32](3600) })
		}
		p.Eventually(one.obj.GetName()+" is as before", func() bool {
			require.NoError(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(one.obj), one.obj))
			return one.isBack()
		})
	}

	require.NoError(t, os.WriteFile(filepath.Join(c.Spec.Flux.Environment["STANDIN"], "go"), nil, 0o644))
	p.waitState("kept", v1alpha1.MiniClusterStateSucceeded)
	for _, obj := range []client.Object{scripts, service, secret, beside} {
		p.Eventually(obj.GetName()+" goes", func() bool {
			return apierrors.IsNotFound(p.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
		})
	}
}

func (p *place) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: p.Namespace, Name: name}
}
