package broadly

import (
	"os"
	"strconv"
	"testing"
)

// TestBroadly fails in as many subtests as SAMPLE_FAILURES says, and adds a line to the file SAMPLE_STATE for each.
func TestBroadly(t *testing.T) {
	failures, err := strconv.Atoi(os.Getenv("SAMPLE_FAILURES"))
	if err != nil {
		t.Fatal(err)
	}
	state, err := os.OpenFile(os.Getenv("SAMPLE_STATE"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	for i := range failures {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			if _, err := state.WriteString(t.Name() + "\n"); err != nil {
				t.Fatal(err)
			}
			t.Error("it fails")
		})
	}
}
