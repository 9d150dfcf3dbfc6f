package diagnose

import "strings"

// waitsForTurn: a new version of the operator would disrupt the object, and disrupts others first.
func waitsForTurn(s subject) *Finding {
	c := s.condition("Released")
	if c == nil || c.Reason != "WaitingForTurn" {
		return nil
	}
	_, what, _ := strings.Cut(c.Message, ": ")
	return blocked("WaitingForTurn", "it waits for its turn in the roll-out of a new version of its operator, which disrupts it: %s", what).
		do("armature rollout status")
}
