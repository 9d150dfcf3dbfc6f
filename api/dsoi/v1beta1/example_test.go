package v1beta1_test

import (
	"encoding/json"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// Lists and maps, old names and new ones are read as the same, and written in one way.
func ExampleClusterSpec() {
	for _, text := range []string{`
nodes: [{name: az1, kind: Statefulset, nodeType: broker, k8sConfigGroup: small}]
k8sConfigGroup: [{name: small, image: "pinot:1"}]
`, `
nodes: {broker: [{name: az1, kind: Statefulset, nodeK8sConfigGroup: small}]}
k8sConfigGroup: {small: {image: "pinot:1"}}
`} {
		var spec v1beta1.ClusterSpec
		if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
			panic(err)
		}
		written, err := json.Marshal(spec)
		fmt.Println(string(written), err)
	}
	// Output:
	// {"k8sConfigGroup":[{"name":"small","image":"pinot:1"}],"nodes":[{"name":"az1","kind":"Statefulset","nodeType":"broker","k8sConfigGroup":"small"}]} <nil>
	// {"k8sConfigGroup":[{"name":"small","image":"pinot:1"}],"nodes":[{"name":"az1","kind":"Statefulset","nodeType":"broker","k8sConfigGroup":"small"}]} <nil>
}

// A coolDown is a text in DSOI's types and a number in its examples.
func ExampleDuration() {
	for _, text := range []string{`300`, `"300"`, `"5m"`, `"soon"`} {
		var coolDown v1beta1.Duration
		if err := json.Unmarshal([]byte(text), &coolDown); err != nil {
			panic(err)
		}
		fmt.Println(coolDown.Parse(time.Hour))
	}
	// Output:
	// 5m0s <nil>
	// 5m0s <nil>
	// 5m0s <nil>
	// 0s is "soon"; want a number of seconds, or a text such as "90s"
}
