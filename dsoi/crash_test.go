package dsoi

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// becomes is a World in which the town, once a spec is done with, gets the next one.
func becomes(specs ...string) buildertest.World {
	return func(ctx context.Context, c client.Client) error {
		o := &Town{}
		if err := c.Get(ctx, townRequest.NamespacedName, o); err != nil {
			return client.IgnoreNotFound(err)
		}
		busy := o.Status.Phase == v1beta1.ClusterInstalling || o.Status.Phase == v1beta1.ClusterUpgrading || o.Status.Phase == v1beta1.ClusterHalted
		n := int(o.Generation) // counts the specs that there were
		if busy || o.Status.ObservedGeneration != o.Generation || n > len(specs) {
			return nil
		}
		o.Spec = TownSpec{}
		if err := yaml.Unmarshal([]byte(specs[n-1]), &o.Spec); err != nil {
			return err
		}
		return c.Update(ctx, o)
	}
}

// crashEverywhere crashes the operator after each of its writes, with caches that lag by so many changes.
func crashEverywhere(t *testing.T, lags []int, spec string, world buildertest.World) {
	for _, lag := range lags {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			buildertest.CrashEverywhere(t, buildertest.Scenario{
				Scheme: townScheme(), Options: []buildertest.Option{withTowns}, Objects: []client.Object{newTown(t, spec)},
				Requests: []reconcile.Request{townRequest}, World: world, Lag: lag, LagOwnWrites: lag > 1,
				Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
					return buildertest.NewReconciler(theApp().Operator(nil), c, c.Now)
				},
				Normalize: comparable,
			})
		})
	}
}

// comparable leaves out what may differ after a crash: the numbers of revisions, of which one may be made in vain, and
// the addresses of Services, which are given in the order of their creation.
func comparable(obj *unstructured.Unstructured) bool {
	delete(obj.Object, "revision")
	unstructured.RemoveNestedField(obj.Object, "spec", "clusterIP")
	unstructured.RemoveNestedField(obj.Object, "spec", "clusterIPs")
	return obj.GetKind() != "Event"
}

// oneOfEachKind is a town with all kinds of objects, once each.
const oneOfEachKind = `
deploymentOrder: [x]
k8sConfigGroup:
- name: small
  image: i
- name: data
  image: i
  service: {ports: [{port: 80}]}
  podDisruptionBudget: {maxUnavailable: 1}
  storageConfig:
  - {name: data, mountPath: /data, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
appConfigGroup: [{name: common, data: "x"}]
nodes:
- {name: a, nodeType: x, k8sConfigGroup: data, appConfigGroup: common}
- {name: b, nodeType: x, k8sConfigGroup: data, kind: Deployment}
- {name: c, nodeType: x, k8sConfigGroup: small, kind: DaemonSet}
`

func TestCrashAfterEachWriteOfAnInstall(t *testing.T) {
	crashEverywhere(t, []int{0, 3}, oneOfEachKind, buildertest.RollOut)
}

func TestCrashAfterEachWriteOfAnUpgrade(t *testing.T) {
	crashEverywhere(t, []int{3}, threeTypes("v1", "v1", "v1"), buildertest.InOrder(buildertest.RollOut, becomes(threeTypes("v2", "v2", "v1"))))
}

// A node goes, another comes, the order changes, in one upgrade.
func TestCrashAfterEachWriteOfAChangeOfNodes(t *testing.T) {
	other := strings.NewReplacer("[control, store, gate]", "[gate, control]", "name: store, nodeType: store", "name: more, nodeType: gate").
		Replace(threeTypes("v1", "v1", "v2"))
	crashEverywhere(t, []int{0}, threeTypes("v1", "v1", "v1"), buildertest.InOrder(buildertest.RollOut, becomes(other)))
}
