package devcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// manifest is an object of a file.
type manifest struct {
	file   string
	object *unstructured.Unstructured
}

// readManifests reads the objects of files and directories, in their order.
func readManifests(paths []string) ([]manifest, error) {
	var all []manifest
	for _, path := range paths {
		files, err := manifestFiles(path)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			objects, err := decode(data, file != path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			for _, object := range objects {
				all = append(all, manifest{file, object})
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s: no objects found in *.yaml, *.yml or *.json", path)
		}
	}
	return all, nil
}

// manifestFiles are the file, or those of the directory, sorted by name.
func manifestFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, nil
}

// decode returns the objects of a file, except those that only kustomize reads. In a directory, a document with neither apiVersion nor kind
// is such a one: a configuration or a patch of kustomize.
func decode(data []byte, inDirectory bool) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		switch {
		case len(object.Object) == 0, strings.HasPrefix(object.GetAPIVersion(), "kustomize.config.k8s.io/"):
		case inDirectory && object.GetAPIVersion() == "" && object.GetKind() == "":
		case object.GetKind() == "" || object.GetAPIVersion() == "" || object.GetName() == "":
			return nil, fmt.Errorf("an object has kind %q, apiVersion %q and name %q: all of them are needed",
				object.GetKind(), object.GetAPIVersion(), object.GetName())
		default:
			objects = append(objects, object)
		}
	}
}

// applyOptions are those of server-side apply. Whatever has been there is the test's own.
var applyOptions = metav1.ApplyOptions{FieldManager: "devcluster", Force: true}

// isFirst reports whether other objects need this one.
func isFirst(m manifest) bool {
	return m.object.GetKind() == "CustomResourceDefinition" || m.object.GetKind() == "Namespace"
}

// first moves the objects that others need to the front.
func first(all []manifest) (needed, rest []manifest) {
	for _, m := range all {
		if isFirst(m) {
			needed = append(needed, m)
		} else {
			rest = append(rest, m)
		}
	}
	return needed, rest
}

// contextFor names an object in an error.
func (m manifest) contextFor(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("%s: %s %s: %w", m.file, m.object.GetKind(), m.object.GetName(), err)
}
