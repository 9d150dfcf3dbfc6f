package watchcmd

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// kind is a kind that can be watched.
type kind struct {
	name    string
	object  func() client.Object
	list    func() client.ObjectList
	picture func(obj client.Object, now time.Time) picture
}

var kinds = []kind{
	kindOf("JobFlow", &v1alpha1.JobFlow{}, &v1alpha1.JobFlowList{}, flowPicture),
	kindOf("DaemonJob", &v1alpha1.DaemonJob{}, &v1alpha1.DaemonJobList{}, daemonPicture),
	kindOf("ReplicaJob", &v1alpha1.ReplicaJob{}, &v1alpha1.ReplicaJobList{}, replicaPicture),
	kindOf("MiniCluster", &v1alpha1.MiniCluster{}, &v1alpha1.MiniClusterList{}, clusterPicture),
	kindOf("FluxJob", &v1alpha1.FluxJob{}, &v1alpha1.FluxJobList{}, fluxPicture),
}

// kindOf describes a kind by its Go types. A picture is drawn of an object by look; what holds for all kinds is added.
func kindOf[T client.Object, L client.ObjectList](name string, object T, list L, look func(T, time.Time) picture) kind {
	return kind{
		name:   name,
		object: func() client.Object { return object.DeepCopyObject().(client.Object) },       //nolint:forcetypeassert // a copy
		list:   func() client.ObjectList { return list.DeepCopyObject().(client.ObjectList) }, //nolint:forcetypeassert // a copy
		picture: func(obj client.Object, now time.Time) picture {
			typed, ok := obj.(T)
			if !ok {
				return picture{}
			}
			p := look(typed, now)
			p.kind, p.name = strings.ToLower(name), obj.GetName()
			if p.state == "" {
				p.state = string(v1alpha1.StatePending) // no operator has seen it
			}
			return p
		},
	}
}

// find returns a kind that can be watched.
func find(gvk schema.GroupVersionKind) (kind, error) {
	var names []string
	for _, k := range kinds {
		if gvk == v1alpha1.GroupVersion.WithKind(k.name) {
			return k, nil
		}
		names = append(names, k.name)
	}
	return kind{}, fmt.Errorf("a %s can't be watched; supported kinds: %s", gvk.Kind, strings.Join(names, ", "))
}

// completed are the kinds as they are typed.
func completed() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, strings.ToLower(k.name))
	}
	return names
}
