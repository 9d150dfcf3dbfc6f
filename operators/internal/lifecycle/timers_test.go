package lifecycle

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var start = metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))

func TestIsOurs(t *testing.T) {
	assert.True(t, IsOurs(nil))
	assert.True(t, IsOurs(new(ManagedByArmature)))
	assert.False(t, IsOurs(new("kueue.x-k8s.io/multikueue")))
	assert.False(t, IsOurs(new("")))
}

func TestDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		start   *metav1.Time
		seconds *int64
		after   time.Duration
		want    Timer
	}{
		"no deadline":         {start: &start, after: time.Hour},
		"not started":         {seconds: ptr.To[int64](10), after: time.Hour},
		"under way":           {&start, ptr.To[int64](10), 4 * time.Second, Timer{Left: 7 * time.Second}},
		"not yet for sure":    {&start, ptr.To[int64](10), 10 * time.Second, Timer{Left: time.Second}},
		"just due":            {&start, ptr.To[int64](10), 11 * time.Second, Timer{Due: true}},
		"in 317 years":        {&start, ptr.To[int64](9_999_999_999), time.Hour, Timer{Left: MaxSeconds*time.Second + time.Second - time.Hour}},
		"the longest":         {&start, ptr.To[int64](math.MaxInt64), -time.Hour, Timer{Left: MaxSeconds*time.Second + time.Second + time.Hour}},
		"a negative one":      {&start, ptr.To[int64](math.MinInt64), 0, Timer{Due: true}},
		"long past":           {&start, ptr.To[int64](10), time.Hour, Timer{Due: true}},
		"at once":             {&start, ptr.To[int64](0), 0, Timer{Due: true}},
		"the clock went back": {&start, ptr.To[int64](10), -time.Second, Timer{Left: 12 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Deadline(c.start, c.seconds, start.Add(c.after)))
		})
	}
}

// The API keeps whole seconds: what started at 12:00:00.9 is on record as started at 12:00:00.
func TestNothingComesEarly(t *testing.T) {
	started := start.Add(900 * time.Millisecond)
	now := metav1.NewTime(started)
	recorded := now.Rfc3339Copy()
	second := ptr.To[int64](1)
	assert.False(t, Deadline(&recorded, second, started.Add(999*time.Millisecond)).Due)
	assert.True(t, Deadline(&recorded, second, started.Add(1100*time.Millisecond)).Due)
	assert.False(t, Expiry(&recorded, nil, ptr.To[int32](1), started.Add(999*time.Millisecond)).Due)
}

func TestExpiry(t *testing.T) {
	assert.Equal(t, Timer{}, Expiry(&start, nil, nil, start.Time))
	assert.Equal(t, Timer{}, Expiry(nil, nil, ptr.To[int32](1), start.Time))
	assert.Equal(t, Timer{Left: 2 * time.Second}, Expiry(&start, nil, ptr.To[int32](1), start.Time))
	assert.Equal(t, Timer{Due: true}, Expiry(&start, nil, ptr.To[int32](0), start.Time))
}

// completionTime may be by the clock of a node. A status may have no condition, or an earlier one, which an invalid spec has set.
func TestExpiryRunsFromTheLaterRecordOfTheEnd(t *testing.T) {
	ttl, later := ptr.To[int32](10), metav1.NewTime(start.Add(time.Hour))
	for name, c := range map[string]struct {
		condition metav1.Condition
		due       bool
	}{
		"none":       {due: true},
		"succeeded":  {condition: metav1.Condition{Type: "Succeeded", Status: "True", LastTransitionTime: later}},
		"failed":     {condition: metav1.Condition{Type: "Failed", Status: "True", LastTransitionTime: later}},
		"not failed": {condition: metav1.Condition{Type: "Failed", Status: "False", LastTransitionTime: later}, due: true},
		"ready":      {condition: metav1.Condition{Type: "Ready", Status: "True", LastTransitionTime: later}, due: true},
		"earlier": {condition: metav1.Condition{
			Type: "Failed", Status: "True", LastTransitionTime: metav1.NewTime(start.Add(-time.Hour)),
		}, due: true},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := []metav1.Condition{c.condition}
			assert.Equal(t, c.due, Expiry(&start, conditions, ttl, start.Add(time.Hour)).Due)
			assert.False(t, Expiry(&start, conditions, ttl, start.Add(10*time.Second)).Due)
			assert.True(t, Expiry(&start, conditions, ttl, later.Add(11*time.Second)).Due)
			assert.Equal(t, Timer{}, Expiry(nil, conditions, ttl, later.Add(time.Hour)))
		})
	}
}

func TestSoonest(t *testing.T) {
	assert.Zero(t, Soonest())
	assert.Zero(t, Soonest(0, 0))
	assert.Equal(t, time.Second, Soonest(0, time.Minute, time.Second))
}
