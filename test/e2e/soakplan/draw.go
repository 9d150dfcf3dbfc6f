package soakplan

import (
	"math/rand/v2"
	"time"
)

// nodes are those of the suite's cluster.
var nodes = []string{"minikube", "node-2", "node-3"}

// draw is the script's source of chance.
type draw struct{ *rand.Rand }

func (d *draw) between(from, to time.Duration) time.Duration {
	return (from + time.Duration(d.Int64N(int64(to-from)))).Round(100 * time.Millisecond)
}

// oneIn is true once in n times.
func (d *draw) oneIn(n int) bool { return d.IntN(n) == 0 }

func oneOf[T any](d *draw, from ...T) T { return from[d.IntN(len(from))] }

// telling is an object on the way: its name, and when what happens to it.
type telling struct {
	*draw
	name  string
	at    time.Duration
	steps *[]Step
}

// create is the first step of an object. Its story is known then.
func (t *telling) create(o *Object) *Object {
	*t.steps = append(*t.steps, Step{At: t.at, Action: Create, Object: o})
	if o.Final == nil {
		o.Final = o.Made
	}
	return o
}

// later has a step of the object's happen some time after the one before.
func (t *telling) later(o *Object, from, to time.Duration, action Action, why, patch string) {
	t.at += t.between(from, to)
	*t.steps = append(*t.steps, Step{At: t.at, Action: action, Object: o, Why: why, Patch: patch})
}

// suspendAndResume has a user do so. It changes no end.
func (t *telling) suspendAndResume(o *Object, path string) {
	patch := func(value string) string {
		if path == "runPolicy" {
			return `{"spec":{"runPolicy":{"suspend":` + value + `}}}`
		}
		return `{"spec":{"suspend":` + value + `}}`
	}
	o.Story += ", suspended and resumed"
	t.later(o, 500*time.Millisecond, 6*time.Second, Patch, "suspend", patch("true"))
	t.later(o, 2*time.Second, 8*time.Second, Patch, "resume", patch("false"))
}

// deleted has a user delete the object while it runs, which is for ever.
func (t *telling) deleted(o *Object) {
	o.Story += ", deleted"
	o.Expect = Expect{End: Gone}
	t.later(o, 500*time.Millisecond, 10*time.Second, Delete, "", "")
}
