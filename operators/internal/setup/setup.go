package setup

import "sigs.k8s.io/controller-runtime/pkg/controller"

// Options returns the options of a controller: controller-runtime's defaults, changed by some functions in their order.
func Options(change []func(*controller.Options)) controller.Options {
	var options controller.Options
	for _, f := range change {
		f(&options)
	}
	return options
}
