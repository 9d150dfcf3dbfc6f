// Package builder stands for the real one: the analyzer knows it by its path and by the names of its types.
package builder

import "time"

type View struct{ now time.Time }

func (v View) Now() time.Time { return v.now }

type Plan[T any] struct {
	Children []string
	Message  string
}

// The engine isn't pure, and need not be.
func Run[T any](plan func(T, View) Plan[T], owner T) Plan[T] { // want Run:"calls time.Now"
	return plan(owner, View{now: time.Now()})
}
