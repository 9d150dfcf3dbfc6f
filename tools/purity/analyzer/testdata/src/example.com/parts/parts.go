package parts

import "time"

func Stamp() string { // want Stamp:"calls time.Now"
	return time.Now().String()
}

func Deep() string { // want Deep:"calls parts.Stamp, which calls time.Now"
	return Stamp()
}

func Pure(a, b int) int { return a + b }

type Clock struct{}

func (Clock) Year() int { return time.Now().Year() } // want Year:"calls time.Now"
