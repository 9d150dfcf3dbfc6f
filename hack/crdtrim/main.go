// Command crdtrim takes out of generated CRDs what the API server would refuse, and what nobody reads.
//
// The Go types of batch/v1 carry validation rules that compare a Job with its former self (oldSelf). Embedded in a list
// whose items have no identity they can't be evaluated, and the API server refuses the CRD. They are not needed there:
// a template is no Job, and the Job made of it is validated by the API server itself.
// The descriptions of the embedded types' fields, half a megabyte each time, are those of kubectl explain job.spec.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// isText tells a description from a field that is called so.
func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// embedded are the properties whose schema is that of a whole Kubernetes type.
var embedded = map[string]bool{"jobTemplate": true, "shareVolumes": true, "shareVolumeMounts": true, "env": true}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crdtrim DIR")
		os.Exit(2)
	}
	if err := trimAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crdtrim:", err)
		os.Exit(1)
	}
}

func trimAll(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no *.yaml in %s", dir)
	}
	for _, file := range files {
		if err := trimFile(file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func trimFile(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return err
	}
	trim(crd, false)
	out, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), out...), 0o644)
}

// trim walks a schema and drops the rules and the inner descriptions of embedded types.
func trim(v any, inside bool) {
	switch x := v.(type) {
	case map[string]any:
		if inside {
			delete(x, "x-kubernetes-validations")
		}
		for key, value := range x {
			if field, ok := value.(map[string]any); ok && inside && isText(field["description"]) {
				delete(field, "description")
			}
			trim(value, inside || embedded[key])
		}
	case []any:
		for _, value := range x {
			trim(value, inside)
		}
	}
}
