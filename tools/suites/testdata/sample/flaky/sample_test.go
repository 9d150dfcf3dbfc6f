package flaky

import (
	"os"
	"testing"
)

// TestFlaky fails once.
func TestFlaky(t *testing.T) {
	t.Run("steady", func(t *testing.T) {})
	t.Run("unsteady", func(t *testing.T) {
		if _, err := os.Stat(os.Getenv("SAMPLE_STATE")); err == nil {
			return
		}
		if err := os.WriteFile(os.Getenv("SAMPLE_STATE"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Error("this time it fails")
	})
}
