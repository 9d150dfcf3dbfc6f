package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunKeepsOurDescriptionsAndDropsEmbeddedOnes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "crd.yaml")
	const crd = `---
spec:
  versions:
  - schema:
      openAPIV3Schema:
        description: kept-kind
        properties:
          spec:
            description: kept-spec
            properties:
              description:
                description: kept-property-called-description
                type: string
              jobTemplate:
                description: kept-own
                x-kubernetes-validations:
                - rule: dropped
                properties:
                  metadata:
                    description: dropped-metadata
                    properties:
                      description:
                        description: dropped
                        type: string
                      name:
                        type: string
                    type: object
                type: object
            type: object
            x-kubernetes-validations:
            - rule: kept-rule
        type: object
`
	if err := os.WriteFile(file, []byte(crd), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second run changes nothing
		if err := run(dir, []string{"jobTemplate"}); err != nil {
			t.Fatal(err)
		}
		out, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(out)
		for _, kept := range []string{"kept-kind", "kept-spec", "kept-property-called-description", "kept-own", "kept-rule", "creationTimestamp"} {
			if strings.Count(text, kept) != 1 {
				t.Errorf("%q should be there once:\n%s", kept, text)
			}
		}
		if strings.Contains(text, "dropped") {
			t.Errorf("something embedded is left:\n%s", text)
		}
		if strings.Count(text, "description:") != 6 { // four of ours, and the two properties of that name
			t.Errorf("descriptions:\n%s", text)
		}
	}
}

func TestRunRefusesAnEmptyDirectory(t *testing.T) {
	if err := run(t.TempDir(), nil); err == nil {
		t.Error("want an error")
	}
}

func TestNamesOfOneKindOnly(t *testing.T) {
	crd := map[string]any{"spec": map[string]any{"names": map[string]any{"kind": "A"}}}
	if got := strings.Join(inKind(crd, []string{"all", "A.mine", "B.theirs"}), " "); got != "all mine" {
		t.Errorf("got %q", got)
	}
}
