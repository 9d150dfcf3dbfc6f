// Package clocks is a package that a Plan reaches.
package clocks

import "time"

var Default = time.Now // want Default:"calls time.Now"

type Clock interface{ Time() time.Time }

type Real struct{}

func (Real) Time() time.Time { return time.Now() } // want Time:"calls time.Now"
