// Package backup is the example of docs/recipes.md.
package backup

import (
	"github.com/armature-dev/armature/builder"

	"example.com/names"
)

type Backup struct {
	Name    string
	Volumes map[string]string
}

// Plan isn't pure.
func Plan(owner *Backup, view builder.View) (plan builder.Plan[*Backup]) { // want Plan:"calls names.New, which calls rand.IntN"
	plan.Message = names.New(owner.Name) // want `calls names.New`
	for volume := range owner.Volumes {  // want `makes a list in the order of a map`
		plan.Children = append(plan.Children, volume)
	}
	return plan
}
