package sources

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/failure"
)

// An author's functions run in goroutines of informers, too. A panic there ends the process, and does so at each start for as long as a
// tenant keeps the object that causes it. In a pass a panic would be tried again forever, and nothing on the owner would say so. The
// functions here make an error of it.

// namesOf calls an author's function that returns the names in an object.
func namesOf(f func(client.Object) []string, obj client.Object) (names []string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: the function that returns the names in %T %s panicked: %v",
				failure.ErrMisuse, obj, client.ObjectKeyFromObject(obj), cause)
		}
	}()
	return f(obj), nil
}

// logged returns the names, for callers that can't return an error. After a panic there are none.
func logged(f func(client.Object) []string) func(client.Object) []string {
	return func(obj client.Object) []string {
		names, err := namesOf(f, obj)
		if err != nil {
			log.Log.Error(err, "an author's function must not panic")
		}
		return names
	}
}

// call calls Concerns. After a panic the change concerns all owners that read the object.
func (c Concerns) call(before, after client.Object) (all bool, names []types.NamespacedName) {
	if c == nil {
		return true, nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			log.Log.Error(fmt.Errorf("panic: %v", cause), "the function of EnqueueFor must not panic")
			all, names = true, nil
		}
	}()
	return c(before, after)
}
