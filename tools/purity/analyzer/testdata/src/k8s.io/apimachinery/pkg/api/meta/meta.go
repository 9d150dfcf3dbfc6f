// Package meta stands for apimachinery's.
package meta

import "time"

type Condition struct {
	Reason             string
	LastTransitionTime time.Time
}

func SetStatusCondition(conditions *[]Condition, c Condition) { // want SetStatusCondition:"calls time.Now"
	if c.LastTransitionTime.IsZero() {
		c.LastTransitionTime = time.Now()
	}
}
