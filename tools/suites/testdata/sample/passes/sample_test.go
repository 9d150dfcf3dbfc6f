package passes

import "testing"

func TestTable(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) {})
}

func TestSkipped(t *testing.T) { t.Skip("not here") }
