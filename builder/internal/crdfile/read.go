package crdfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Read reads files, and the .yaml files in directories, but not those below them.
func Read[T any](paths ...string) ([]T, error) {
	var all []T
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, file := range files {
			found, err := readFile[T](file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, found...)
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s: no CustomResourceDefinition", path)
		}
	}
	return all, nil
}

// filesOf returns a file itself, and the .yaml files in a directory.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	return filepath.Glob(filepath.Join(path, "*.yaml"))
}

func readFile[T any](file string) ([]T, error) {
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	var all []T
	for documents := yaml.NewYAMLOrJSONDecoder(text, 4096); ; {
		var document json.RawMessage
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		var is metav1.TypeMeta
		if json.Unmarshal(document, &is) != nil || is.Kind != "CustomResourceDefinition" {
			continue
		}
		var definition T
		if err := json.Unmarshal(document, &definition); err != nil {
			return nil, err
		}
		all = append(all, definition)
	}
}
