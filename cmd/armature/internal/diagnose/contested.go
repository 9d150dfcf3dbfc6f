package diagnose

import "strings"

// contested: another writer keeps changing what the operator makes.
func contested(s subject) *Finding {
	c := s.isTrue("Contested")
	if c == nil {
		return nil
	}
	what, remedy, _ := strings.Cut(c.Message, ". ")
	if remedy == "" {
		remedy = "Stop one of the two writers"
	}
	return blocked("Contested", "two writers disagree: %s", what).do("%s", remedy)
}
