package setup

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

func TestOptionsAreChangedInOrder(t *testing.T) {
	assert.Equal(t, controller.Options{}, Options(nil), "controller-runtime's defaults")
	options := Options([]func(*controller.Options){
		func(o *controller.Options) { o.MaxConcurrentReconciles = 2 },
		func(o *controller.Options) { o.MaxConcurrentReconciles *= 3 },
	})
	assert.Equal(t, controller.Options{MaxConcurrentReconciles: 6}, options)
}
