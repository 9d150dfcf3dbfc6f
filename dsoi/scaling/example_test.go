package scaling_test

import (
	"fmt"
	"net/url"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/dsoi/scaling"
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
)

// The controller of a kind that scales another. Who may write a KVStoreScaling can have the operator send requests:
// Allow says where to.
func Example() {
	controller := &scaling.Controller[*v1.KVStoreScaling]{
		Name:    "kvstore-scaling",
		Cluster: &v1.KVStore{},
		Allow: func(u *url.URL) error {
			if u.Scheme != "https" || u.Hostname() != "metrics.example.com" {
				return fmt.Errorf("the source is on %q; want https://metrics.example.com", u.Host)
			}
			return nil
		},
	}
	setup := func(mgr manager.Manager) error { return controller.Setup(mgr) }
	_ = setup

	fmt.Println(controller.Allow(&url.URL{Scheme: "https", Host: "metrics.example.com", Path: "/load"}))
	fmt.Println(controller.Allow(&url.URL{Scheme: "http", Host: "localhost:6443"}))
	// Output:
	// <nil>
	// the source is on "localhost:6443"; want https://metrics.example.com
}
