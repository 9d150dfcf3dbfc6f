// Package hidden has Plans that reach what isn't pure through a variable, a field, a closure or an interface.
package hidden

import (
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/armature-dev/armature/builder"

	"example.com/clocks"
)

type owner struct{ labels map[string]string }

type plan = builder.Plan[*owner]

// A variable of the package.

var now = time.Now // want now:"calls time.Now" `hidden.Variable isn't pure: it calls time.Now`

var replaced func() string // want replaced:"calls os.Getenv"

func init() { // want init:"calls os.Getenv"
	replaced = func() string { return os.Getenv("HOME") } // want `hidden.Variable isn't pure: it calls os.Getenv`
}

var pure = func() string { return "pure" }

var started = time.Now() // want started:"calls time.Now" `hidden.Variable isn't pure: it calls time.Now`

var host = hostname() // want host:"calls hidden.hostname, which calls os.Hostname"

func hostname() string { // want hostname:"calls os.Hostname"
	name, _ := os.Hostname() // want `hidden.Variable isn't pure: it calls os.Hostname`
	return name
}

func Variable(o *owner, view builder.View) plan { // want Variable:"which calls time.Now"
	_, _ = started, host
	return plan{Message: now().String() + replaced() + pure()}
}

func OtherVariable(o *owner, view builder.View) plan { // want OtherVariable:"calls clocks.Default, which calls time.Now"
	return plan{Message: clocks.Default().String()} // want `calls clocks.Default, which calls time.Now`
}

var numbers = rand.New(rand.NewPCG(1, 2))

func Numbers(o *owner, view builder.View) plan { // want Numbers:"draws from hidden.numbers, which earlier calls have advanced"
	return plan{Message: strconv.Itoa(numbers.IntN(3))} // want `draws from hidden.numbers, which earlier calls have advanced; derive`
}

var table = map[string]func() time.Time{"now": time.Now} // want table:"calls time.Now" `hidden.Table isn't pure: it calls time.Now`

func Table(o *owner, view builder.View) plan { // want Table:"calls hidden.table, which calls time.Now"
	return plan{Message: table["now"]().String()}
}

// A field.

type planner struct {
	now  func() time.Time
	name func() string
}

func Setup() func(*owner, builder.View) plan { // want Setup:"calls time.Now"
	p := &planner{now: time.Now, name: pure} // want `planner..Plan isn't pure: it calls time.Now`
	return p.Plan
}

func (p *planner) Plan(o *owner, view builder.View) plan { // want Plan:"calls now, which calls time.Now"
	return plan{Message: p.now().String() + p.name()}
}

// A variable or parameter that a Plan's literal captures.

func Captured() func(*owner, builder.View) plan { // want Captured:"calls time.Now"
	clock := func() time.Time { return time.Now() } // want `the function literal in line \d+ isn't pure`
	return func(*owner, builder.View) plan { return plan{Message: clock().String()} }
}

func withClock(clock func() time.Time) func(*owner, builder.View) plan { // want withClock:"calls clock, which calls time.Now"
	return func(*owner, builder.View) plan { return plan{Message: clock().String()} }
}

var Given = withClock(time.Now) // want Given:"calls time.Now" `the function literal in line \d+ isn't pure: it calls time.Now`

// A helper's parameter isn't looked at: each caller's function is.

func each(names []string, f func(string)) {
	for _, name := range names {
		f(name)
	}
}

func Each(o *owner, view builder.View) plan {
	each(nil, func(string) {})
	return plan{}
}

func outside() { // want outside:"calls time.Now"
	each(nil, func(string) { time.Now() })
}

// An interface.

type clock interface{ Now() time.Time }

type real struct{}

func (real) Now() time.Time { return time.Now() } // want Now:"calls time.Now" `hidden.Interface isn't pure: it calls time.Now`

type fixed struct{}

func (*fixed) Now() time.Time { return time.Time{} }

func Interface(o *owner, view builder.View) plan { // want Interface:"calls .hidden.real..Now, which calls time.Now"
	var c clock = real{}
	return plan{Message: c.Now().String()}
}

func OtherInterface(o *owner, view builder.View) plan { // want OtherInterface:"calls .clocks.Real..Time, which calls time.Now"
	var c clocks.Clock = clocks.Real{}
	return plan{Message: c.Time().String()} // want `calls \(clocks.Real\).Time, which calls time.Now`
}

// Other ways out.

func Outside(o *owner, view builder.View) plan { // want Outside:"calls .*http.Client..Get"
	_, _ = http.DefaultClient.Get("http://localhost")                   // want `calls \(\*http.Client\).Get`
	_, _ = (&http.Client{}).Post("http://localhost", "text/plain", nil) // want `calls \(\*http.Client\).Post`
	_ = http.Header{}.Get("Accept")
	_, _ = new(net.Dialer).Dial("tcp", "localhost:1") // want `calls \(\*net.Dialer\).Dial`
	_ = len(os.Args)                                  // want `reads os.Args`
	return plan{}
}

func Concurrent(o *owner, view builder.View) plan { // want Concurrent:"calls .*sync.WaitGroup..Go"
	var group sync.WaitGroup
	group.Go(func() {})   // want `calls \(\*sync.WaitGroup\).Go; a Plan is one computation`
	close(make(chan int)) // want `closes a channel`
	return plan{}
}
