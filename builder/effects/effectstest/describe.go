package effectstest

import (
	"fmt"
	"strings"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/effect"
)

// Describe returns the effects among the children of a plan, in their order, each in one line for the table of a test:
//
//	postgres "user/shop": {"name":"shop"}, Secrets shop-password, order 1, retained
func Describe(children []builder.Child) []string {
	var lines []string
	for _, c := range children {
		if !effect.Is(c.Object()) {
			continue
		}
		j := effect.Read(c.Object())
		line := j.String()
		if len(j.Spec.Payload) > 0 {
			line += ": " + string(j.Spec.Payload)
		}
		var secrets []string
		for _, s := range j.Spec.Secrets {
			name, _, _ := strings.Cut(s, "/")
			secrets = append(secrets, name)
		}
		if len(secrets) > 0 {
			line += ", Secrets " + strings.Join(secrets, " ")
		}
		if j.Order != 0 {
			line += fmt.Sprintf(", order %d", j.Order)
		}
		if j.Spec.Retain {
			line += ", retained"
		}
		lines = append(lines, line)
	}
	return lines
}
