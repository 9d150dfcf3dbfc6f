package reconciler_test

import (
	"fmt"

	"github.com/armature-dev/armature/compat/builder"
	"github.com/armature-dev/armature/compat/reconciler"
)

// Code that takes the interface takes any Builder.
func ExampleReconcileInterface() {
	var pass reconciler.ReconcileInterface = builder.NewBuilder()
	fmt.Println(pass.ReconcileConfigMap())
	fmt.Println(pass.ReconcileStore())
	// Output:
	// unchanged <nil>
	// <nil>
}
