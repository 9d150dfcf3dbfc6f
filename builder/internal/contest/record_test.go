package contest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/store"
)

func TestNumbersSeldomChange(t *testing.T) {
	for n, want := range map[int]int{3: 3, 9: 3, 10: 10, 29: 10, 30: 30, 299: 100, 999: 300, 1000: 1000, 1 << 20: 1000} {
		assert.Equal(t, want, rounded(n), n)
	}
}

func TestContestsAreBounded(t *testing.T) {
	c := NewRecord(1 << 10)
	now := time.Unix(1000, 0)
	all := func(store.Key) bool { return true }
	for i := range 100 {
		field := fieldmanager.Drift{Path: fmt.Sprintf("f%02d", i), By: fmt.Sprintf("m%02d", i)}
		for range After {
			c.Corrected(Key{Owner: "o", Child: store.Key{Name: "web"}}, "d", []fieldmanager.Drift{field}, now)
		}
	}
	report := c.Report("o", now, all)
	assert.Len(t, report.Active, 1)
	assert.Len(t, report.Active[0].Fields, maxFields)
	assert.Len(t, report.Active[0].By, maxFields)
	assert.Equal(t, MaxBackoff, report.Wait)
	c.children.Purge()
	assert.Empty(t, c.Report("o", now, all).Active, "what was dropped is forgotten")
	assert.Zero(t, c.owners.Len())
}
