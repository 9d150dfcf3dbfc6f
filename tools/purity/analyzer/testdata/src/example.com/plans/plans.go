package plans

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/armature-dev/armature/builder"
	"k8s.io/apimachinery/pkg/api/meta"

	"example.com/parts"
)

type owner struct{ labels map[string]string }

type plan = builder.Plan[*owner]

func Clock(o *owner, view builder.View) plan { // want Clock:"calls time.Now"
	_ = view.Now()
	return plan{Message: time.Now().String()} // want `plans.Clock isn't pure: it calls time.Now; a Plan gets the time from View.Now`
}

func Random(o *owner, view builder.View) plan { // want Random:"calls rand.IntN"
	seeded := rand.New(rand.NewPCG(1, 2))
	_ = seeded.IntN(3)
	return plan{Message: fmt.Sprint(rand.IntN(3))} // want `calls rand.IntN; derive the value from the owner`
}

func Environment(o *owner, view builder.View) plan { // want Environment:"calls os.Getenv"
	return plan{Message: os.Getenv("HOME")} // want `calls os.Getenv; declare what the Plan needs as a source`
}

func OtherPackage(o *owner, view builder.View) plan { // want OtherPackage:"calls .parts.Clock..Year, which"
	_ = parts.Pure(1, 2)
	_ = parts.Clock{}.Year()           // want `calls \(parts.Clock\).Year, which calls time.Now`
	return plan{Message: parts.Deep()} // want `calls parts.Deep, which calls parts.Stamp, which calls time.Now`
}

func Helper(o *owner, view builder.View) plan { // want Helper:"calls plans.helper, which starts a goroutine"
	helper()
	return plan{}
}

func helper() { // want helper:"starts a goroutine"
	go func() {}() // want `starts a goroutine; a Plan is one computation`
	c := make(chan int, 1)
	c <- 1        // want `sends to a channel`
	<-c           // want `receives from a channel`
	for range c { // want `receives from a channel`
	}
	select {} // want `selects from channels`
}

// Mentioned: a function given away is as good as called.
func Mentioned(o *owner, view builder.View) plan { // want Mentioned:"calls plans.byTime, which calls time.Now"
	return plan{Children: apply(byTime)}
}

func apply(f func() []string) []string { return f() }

func byTime() []string { return []string{time.Now().String()} } // want byTime:"calls time.Now" `plans.Mentioned isn't pure: it calls time.Now`

func List(o *owner, view builder.View) (p plan) { // want List:"makes a list in the order of a map"
	for k := range o.labels { // want `makes a list in the order of a map; sort first`
		p.Children = append(p.Children, k)
	}
	return p
}

func SortedList(o *owner, view builder.View) (p plan) {
	for k := range o.labels {
		p.Children = append(p.Children, k)
	}
	sort.Strings(p.Children)
	return p
}

func Text(o *owner, view builder.View) (p plan) { // want Text:"makes a text in the order of a map"
	for k, v := range o.labels { // want `makes a text in the order of a map`
		p.Message += k + v
	}
	return p
}

func Writes(o *owner, view builder.View) (p plan) { // want Writes:"writes in the order of a map"
	var b strings.Builder
	for k := range o.labels { // want `writes in the order of a map`
		b.WriteString(k)
	}
	return plan{Message: b.String()}
}

func First(o *owner, view builder.View) (p plan) { // want First:"returns whichever entry"
	for k := range o.labels { // want `returns whichever entry of a map comes first`
		return plan{Message: k}
	}
	return p
}

func Collects(o *owner, view builder.View) (p plan) { // want Collects:"collects a map in no order"
	p.Children = slices.Sorted(maps.Keys(o.labels))
	keys := slices.Collect(maps.Keys(o.labels))
	slices.Sort(keys)
	p.Children = slices.Collect(maps.Values(o.labels)) // want `collects a map in no order`
	return p
}

func SameInAnyOrder(o *owner, view builder.View) (p plan) {
	other, count, least := map[string][]string{}, 0, ""
	for k, v := range o.labels {
		other[k] = append(other[k], v)
		count++
		if least == "" || k < least {
			least = k
		}
		if v == "" {
			return plan{}
		}
	}
	return plan{Message: least}
}

func NoTime(o *owner, view builder.View) plan { // want NoTime:"calls meta.SetStatusCondition, which calls time.Now"
	meta.SetStatusCondition(nil, meta.Condition{Reason: "Ready"}) // want `a condition without a time; set its LastTransitionTime to View.Now`
	return plan{}
}

func WithTime(o *owner, view builder.View) plan {
	meta.SetStatusCondition(nil, meta.Condition{LastTransitionTime: view.Now()})
	return plan{}
}

func Literal() func(*owner, builder.View) plan { // want Literal:"calls time.Now"
	return func(*owner, builder.View) plan {
		return plan{Message: time.Now().String()} // want `the function literal in line 140 isn't pure`
	}
}

// part has the View, so it is a part of a Plan.
func Zone(o *owner, view builder.View) plan { // want Zone:"calls .time.Time..Local"
	return plan{Message: view.Now().Local().String()} // want `plans.Zone isn't pure: it calls \(time.Time\).Local; time zones are the machine's`
}

func part(view builder.View) time.Time { return time.Now() } // want part:"calls time.Now" `plans.part isn't pure`

// Nothing reaches this one, and it isn't a Plan.
func free() time.Time { return time.Now() } // want free:"calls time.Now"

// What has a context makes requests for a View.
func fetch(ctx context.Context, view builder.View) time.Time { return time.Now() } // want fetch:"calls time.Now"

func Excused(o *owner, view builder.View) plan {
	_ = time.Now() //purity:ignore only a log reads it
	//purity:ignore only a log reads it
	_ = time.Now()
	return plan{}
}

func NoReason(o *owner, view builder.View) plan { // want NoReason:"calls time.Now"
	_ = time.Now() //purity:ignore // want `has no reason` `isn't pure`
	return plan{}
}
