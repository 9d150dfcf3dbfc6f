package uiserver

import (
	"embed"
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
)

//go:embed examples/*.yaml
var examples embed.FS

// exampleOf is what the form of a kind begins with.
func exampleOf(k kind) string {
	if k.Group == v1alpha1.GroupVersion.Group {
		if text, err := examples.ReadFile("examples/" + k.Kind + ".yaml"); err == nil {
			return string(text)
		}
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: example\nspec: {}\n", k.GroupVersion(), k.Kind)
}
