// Trimcrd makes generated CRDs fit for the API server, and small enough to be applied by any means, in place.
//
//	trimcrd -embedded jobTemplate,env DIR
//
// A name may be that of one kind's property only: DaemonJob.selector.
//
// A CRD that embeds a Kubernetes type, such as a JobSpec, repeats that type's whole manual, most of a megabyte. Trimcrd
// drops the descriptions below the properties named by -embedded (kubectl explain has them at their own kind) and keeps
// all others. Below them it also drops the validation rules of the Go types: rules that compare a Job with its former
// self (oldSelf) are refused in a list whose items have no identity, and a template is no Job yet; the Job that is made
// of it is validated by the API server itself. And it admits the "creationTimestamp: null" that many tools print in a
// template's metadata, which strict field validation would otherwise refuse.
//
// It narrows the schema of what the Go types don't read: see bound.go. Without -embedded it does only that.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	embedded := flag.String("embedded", "", "comma-separated `names` of properties that hold Kubernetes types")
	flag.Parse()
	if err := run(flag.Arg(0), strings.Split(*embedded, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "trimcrd:", err)
		os.Exit(1)
	}
}

func run(dir string, embedded []string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no CRDs in directory %q", dir)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var crd map[string]any
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		trim(crd, inKind(crd, embedded), false)
		bound(crd)
		out, err := yaml.Marshal(crd)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, slices.Concat([]byte("---\n"), bytes.TrimPrefix(out, []byte("---\n"))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// inKind returns the names of properties that concern a CRD's kind.
func inKind(crd map[string]any, names []string) []string {
	spec, _ := crd["spec"].(map[string]any)
	called, _ := spec["names"].(map[string]any)
	kind, _ := called["kind"].(string)
	var all []string
	for _, name := range names {
		of, property, qualified := strings.Cut(name, ".")
		switch {
		case !qualified:
			all = append(all, name)
		case of == kind:
			all = append(all, property)
		}
	}
	return all
}

// trim walks a CRD. Inside is true below an embedded property, where descriptions and rules are dropped.
func trim(v any, embedded []string, inside bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			trim(item, embedded, inside)
		}
	case map[string]any:
		properties, isSchema := v["properties"].(map[string]any)
		for name, child := range v {
			switch {
			case name == "properties" && isSchema:
			case inside && (name == "description" || name == "x-kubernetes-validations"):
				delete(v, name)
			default:
				trim(child, embedded, inside)
			}
		}
		for name, child := range properties {
			schema, _ := child.(map[string]any)
			description, described := schema["description"]
			trim(schema, embedded, inside || slices.Contains(embedded, name))
			if described && !inside { // the embedded property's own
				schema["description"] = description
			}
			if name == "metadata" && inside {
				admitCreationTimestamp(schema)
			}
		}
	}
}

// admitCreationTimestamp adds the one field that controller-gen leaves out of embedded metadata and tools print.
func admitCreationTimestamp(metadata map[string]any) {
	if properties, ok := metadata["properties"].(map[string]any); ok {
		properties["creationTimestamp"] = map[string]any{"type": "string", "format": "date-time", "nullable": true}
	}
}
