package store_test

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/store"
)

var deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// The desired objects, and those that exist and are not desired.
func ExampleStore() {
	var desired store.Store
	fmt.Println(desired.Put(store.KeyOf(deployments, "default", "web")))
	fmt.Println(desired.Put(store.KeyOf(deployments, "default", "web")), "(twice)")

	existing := []store.Key{store.KeyOf(deployments, "default", "web"), store.KeyOf(deployments, "default", "old")}
	fmt.Println(desired.Stale(slices.Values(existing)))
	// Output:
	// true
	// false (twice)
	// [Deployment.apps default/old]
}

// Keys read as people name objects, and have an order.
func ExampleCompare() {
	keys := []store.Key{store.KeyOf(deployments, "default", "web"), {Kind: "Node", Name: "n1"}, {Kind: "ConfigMap", Namespace: "default", Name: "web"}}
	slices.SortFunc(keys, store.Compare)
	fmt.Println(keys)
	// Output: [ConfigMap default/web Node n1 Deployment.apps default/web]
}
