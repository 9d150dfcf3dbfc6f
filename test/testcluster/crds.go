package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

var (
	installing    sync.Mutex
	installedDirs = map[string]bool{}
)

// InstallCRDs applies the CustomResourceDefinitions in the *.yaml files of the directories, and returns when
// the API server serves them. A relative directory is looked for from the test's directory, then from the root
// of the repository. A directory is installed once in a test binary: every test that needs it may call this.
func InstallCRDs(tb testing.TB, dirs ...string) {
	tb.Helper()
	installing.Lock()
	defer installing.Unlock()
	client, err := dynamic.NewForConfig(Config(tb))
	if err != nil {
		tb.Fatalf("testcluster: %v", err)
	}
	known, err := discovery.NewDiscoveryClientForConfig(Config(tb))
	if err != nil {
		tb.Fatalf("testcluster: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, dir := range dirs {
		if installedDirs[dir] {
			continue
		}
		crds, err := readCRDs(dir)
		if err != nil {
			tb.Fatalf("testcluster: %v", err)
		}
		for _, crd := range crds {
			options := metav1.ApplyOptions{FieldManager: "testcluster", Force: true}
			err := wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
				_, err := client.Resource(crdResource).Apply(ctx, crd.GetName(), crd, options)
				if apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) { // of an API server without CPU
					return false, nil
				}
				return err == nil, err
			})
			if err != nil {
				tb.Fatalf("testcluster: apply %s from %s: %v", crd.GetName(), dir, err)
			}
		}
		// All at once: the first list of each kind is put off by a second, while the API server makes its cache.
		var waiting sync.WaitGroup
		errs := make([]error, len(crds))
		for i, crd := range crds {
			waiting.Go(func() {
				if err := waitServed(ctx, client, known, crd); err != nil {
					errs[i] = fmt.Errorf("%s is not served: %w", crd.GetName(), err)
				}
			})
		}
		waiting.Wait()
		if err := errors.Join(errs...); err != nil {
			tb.Fatalf("testcluster: %v", err)
		}
		installedDirs[dir] = true
	}
}

func readCRDs(dir string) ([]*unstructured.Unstructured, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var crds []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
		for {
			object := &unstructured.Unstructured{}
			if err := decoder.Decode(object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if object.GetKind() == "CustomResourceDefinition" {
				crds = append(crds, object)
			}
		}
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("%s: no CustomResourceDefinition in *.yaml", dir)
	}
	return crds, nil
}

// resolve finds a directory from the working directory, then from the repository's root.
func resolve(dir string) (string, error) {
	if _, err := os.Stat(dir); err == nil || filepath.IsAbs(dir) {
		return dir, err
	}
	root, err := repositoryRoot()
	if err != nil {
		return "", fmt.Errorf("no directory %s: %w", dir, err)
	}
	_, err = os.Stat(filepath.Join(root, dir))
	return filepath.Join(root, dir), err
}

// waitServed waits until each served version of the CRD can be listed, and is among what the API server says that it
// serves: clients that map kinds to resources look there, and it comes a moment later.
func waitServed(
	ctx context.Context, client dynamic.Interface, known discovery.ServerResourcesInterface, crd *unstructured.Unstructured,
) error {
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
		err := wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
			_, err := client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) {
				return false, nil
			}
			return err == nil && isKnown(known, resource), err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", resource, err)
		}
	}
	return nil
}

// isKnown reports whether the API server says that it serves a resource.
func isKnown(known discovery.ServerResourcesInterface, resource schema.GroupVersionResource) bool {
	list, err := known.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	return err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource.Resource })
}
