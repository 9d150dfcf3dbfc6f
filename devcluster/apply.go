package devcluster

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const (
	pollEvery = 20 * time.Millisecond
	// serveTimeout is for a busy machine: the API server serves a new kind within a second.
	serveTimeout = 2 * time.Minute
)

// applier applies objects to a cluster.
type applier struct {
	client dynamic.Interface
	served discovery.CachedDiscoveryInterface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

// apply applies the objects of files and directories, and returns when the API server serves the new kinds.
func apply(ctx context.Context, config *rest.Config, paths []string) error {
	all, err := readManifests(paths)
	if err != nil || len(all) == 0 {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	a := &applier{client: client, served: memory.NewMemCacheClient(served)}
	a.mapper = restmapper.NewDeferredDiscoveryRESTMapper(a.served)
	needed, rest := first(all)
	for _, m := range slices.Concat(needed, rest) {
		if err := a.apply(ctx, m.object); err != nil {
			return m.contextFor(ctx, err)
		}
		if m.object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if err := a.waitServed(ctx, m.object); err != nil {
			return m.contextFor(ctx, err)
		}
	}
	return nil
}

func (a *applier) apply(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	resource := dynamic.ResourceInterface(a.client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := object.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		resource = a.client.Resource(mapping.Resource).Namespace(namespace)
	}
	_, err = resource.Apply(ctx, object.GetName(), object, applyOptions)
	return err
}

// waitServed waits until each served version of a CRD can be listed and is in discovery, where clients look for kinds.
func (a *applier) waitServed(ctx context.Context, crd *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if served, _ := version["served"].(bool); !served {
			continue
		}
		name, _ := version["name"].(string)
		resource := schema.GroupVersionResource{Group: group, Version: name, Resource: plural}
		err := wait.PollUntilContextTimeout(ctx, pollEvery, serveTimeout, true, func(ctx context.Context) (bool, error) {
			_, err := a.client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) {
				return false, nil
			}
			return err == nil && a.isKnown(resource), err
		})
		if err != nil {
			return err
		}
	}
	a.mapper.Reset()
	return nil
}

// isKnown reports whether the API server says that it serves a resource.
func (a *applier) isKnown(resource schema.GroupVersionResource) bool {
	a.served.Invalidate()
	list, err := a.served.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	return err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource.Resource })
}
