package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, shortNames: [th]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: Thing is a thing.
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [parts]
            x-kubernetes-validations:
            - {rule: "self.pod == oldSelf.pod", fieldPath: .pod, message: can't be changed}
            properties:
              parts:
                description: Parts are what it has.
                type: array
                minItems: 1
                items:
                  type: object
                  properties:
                    size: {description: Size is <how> large., type: integer, minimum: 1, default: 3}
                    from: {description: From is when., type: string, format: date-time, pattern: "^2"}
                    port: {description: Port is where., x-kubernetes-int-or-string: true, minimum: 1, maximum: 2147483647}
              pod:
                description: Pod is embedded.
                type: object
                properties: {spec: {type: object, properties: {x: {type: string}}}}
`

func TestPage(t *testing.T) {
	dir, pages := t.TempDir(), filepath.Join(t.TempDir(), "pages")
	if err := os.WriteFile(filepath.Join(dir, "thing.yaml"), []byte(crd), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, pages); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(pages, "thing.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## spec\n\nobject, required\n\nRules: pod can't be changed.\n",
		"# Thing\n", "Thing is a thing.\n", "| kubectl knows it as | `things`, `thing`, `th` |",
		"### spec.parts\n\nlist of objects, required\n\nParts are what it has.\n\nRules: at least 1 item.\n",
		"### spec.parts[].size\n\ninteger, default `3`\n\nSize is &lt;how> large.\n\nRules: at least 1.\n",
		"From is when.\n\n###", "Port is where.\n\nRules: at least 1.\n",
		"### spec.pod\n\nobject; its fields are those of Kubernetes' own type, which `kubectl explain` has\n\nPod is embedded.\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "spec.pod.spec") {
		t.Errorf("what is embedded is described elsewhere:\n%s", got)
	}
	if err := run(t.TempDir(), pages); err == nil {
		t.Error("a directory without CRDs is an error")
	}
}
