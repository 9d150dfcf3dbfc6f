package dsoi

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// becomes returns the edit that gives the town another spec.
func becomes(t *testing.T, spec string) buildertest.Edit {
	return buildertest.Change(newTown(t, ""), func(o *Town) {
		o.Spec = TownSpec{}
		require.NoError(t, yaml.Unmarshal([]byte(spec), &o.Spec))
	})
}

// crashEverywhere crashes the operator after each of its writes, with caches that lag by so many changes.
func crashEverywhere(t *testing.T, lags []int, spec string, then ...buildertest.Edit) {
	for _, lag := range lags {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			s := world.ScenarioOf(theApp().Operator, newTown(t, spec), townScheme(), withTowns)
			s.Then, s.Lag, s.LagOwnWrites, s.Normalize = then, lag, lag > 1, comparable
			buildertest.CrashEverywhere(t, s)
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
	crashEverywhere(t, []int{0, 3}, oneOfEachKind)
}

func TestCrashAfterEachWriteOfAnUpgrade(t *testing.T) {
	crashEverywhere(t, []int{3}, threeTypes("v1", "v1", "v1"), becomes(t, threeTypes("v2", "v2", "v1")))
}

// A node goes, another comes, the order changes, in one upgrade.
func TestCrashAfterEachWriteOfAChangeOfNodes(t *testing.T) {
	other := strings.NewReplacer("[control, store, gate]", "[gate, control]", "name: store, nodeType: store", "name: more, nodeType: gate").
		Replace(threeTypes("v1", "v1", "v2"))
	crashEverywhere(t, []int{0}, threeTypes("v1", "v1", "v1"), becomes(t, other))
}
