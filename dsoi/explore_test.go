package dsoi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
)

// explored is a town in which everything may happen in any order.
func explored(t *testing.T, spec string) buildertest.Scenario {
	s := world.ScenarioOf(theApp().Operator, newTown(t, spec), townScheme(), withTowns)
	s.Normalize = comparable
	return s
}

func TestExploreAnInstall(t *testing.T) {
	report := buildertest.Explore(t, explored(t, threeTypes("v1", "v1", "v1")), buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), WholeWorkloads: true})
	assert.True(t, report.Exhausted)
}

// A user upgrades two of three types at any time.
func TestExploreAnUpgrade(t *testing.T) {
	s := explored(t, threeTypes("v1", "v1", "v1"))
	s.Then = []buildertest.Edit{buildertest.Change(newTown(t, ""), func(town *Town) {
		town.Spec = newTown(t, threeTypes("v2", "v2", "v1")).Spec
	})}
	s.Normalize = func(obj *unstructured.Unstructured) bool { // an edit before the first install makes no upgrade
		unstructured.RemoveNestedField(obj.Object, "status", "upgrade")
		return obj.GetKind() != "ControllerRevision" && comparable(obj)
	}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: testsize.Pick(0, 1), Edits: 1, WholeWorkloads: true})
	assert.True(t, report.Exhausted)
}
