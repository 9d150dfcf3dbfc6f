// Package counters has what Plans of other packages call.
package counters

var total int

func Next() int { // want Next:"writes total"
	total++
	return total
}

var Default Counter

type Counter struct{ seen map[string]int }

func (c *Counter) See(name string) { // want See:"writes c.seen.name."
	c.seen[name]++
}

func (c *Counter) Seen(name string) bool { return c.seen[name] > 0 }

func See(c *Counter, name string) { // want See:"calls ..counters.Counter..See, which writes c.seen.name."
	c.See(name)
}

// Registry is made as the program starts.
func Registry() map[string]int { // want Registry:"writes total"
	total++
	return map[string]int{}
}
