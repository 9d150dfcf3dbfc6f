package localnode

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/volumes"
)

// watchObjects tells the nodes of changed ConfigMaps and Secrets. The informers
// only say that there is a change, the content is read where it is used; so they
// keep none of it.
func watchObjects(factory informers.SharedInformerFactory, nodes []*localNode) error {
	changed := func(object any) {
		switch o := object.(type) {
		case *corev1.ConfigMap:
			notify(nodes, o.Namespace, func(pod *corev1.Pod) bool { return volumes.UsesConfigMap(pod, o.Name) })
		case *corev1.Secret:
			notify(nodes, o.Namespace, func(pod *corev1.Pod) bool { return volumes.UsesSecret(pod, o.Name) })
		}
	}
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().ConfigMaps().Informer(), factory.Core().V1().Secrets().Informer(),
	} {
		if err := informer.SetTransform(dropContent); err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    changed,
			UpdateFunc: func(_, updated any) { changed(updated) },
		}); err != nil {
			return err
		}
	}
	return nil
}

func notify(nodes []*localNode, namespace string, uses func(*corev1.Pod) bool) {
	for _, n := range nodes {
		n.provider.objectChanged(namespace, uses)
	}
}

func dropContent(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.ConfigMap:
		o.Data, o.BinaryData, o.ManagedFields = nil, nil, nil
	case *corev1.Secret:
		o.Data, o.ManagedFields = nil, nil
	}
	return object, nil
}
