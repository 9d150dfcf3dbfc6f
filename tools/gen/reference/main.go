// Reference writes a page for each CRD of a directory: every field with its path, type, default, rules and meaning.
//
//	reference CRDS PAGES
//
// What it writes is what kubectl explain says, in one place. Where a CRD embeds a Kubernetes type, of which trimcrd has dropped the
// descriptions, the page names the field and stops.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "reference: want the directories of the CRDs and of the pages")
		os.Exit(1)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(crds, pages string) error {
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no CRDs in directory %q", crds)
	}
	if err := os.RemoveAll(pages); err != nil {
		return err
	}
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		page := filepath.Join(pages, strings.ToLower(crd.Spec.Names.Kind)+".md")
		if err := os.WriteFile(page, []byte(pageOf(&crd)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
