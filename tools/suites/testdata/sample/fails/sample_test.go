package fails

import "testing"

func TestFails(t *testing.T) {
	t.Run("always", func(t *testing.T) { t.Error("it fails each time") })
	t.Run("never", func(t *testing.T) {})
}
