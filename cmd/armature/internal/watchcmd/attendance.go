package watchcmd

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

const (
	// quiet is for how long nothing changes until it is asked whether a manager is there.
	quiet = 10 * time.Second
	// askAgain is how long after one such question comes the next.
	askAgain = 30 * time.Second
)

// attendance checks whether a manager works on an object that doesn't change: without one, it never will.
type attendance struct {
	ask     func(context.Context) string
	answers chan string
	absent  string // what is known of it; empty if nothing is wrong

	next   time.Time // when it is asked next
	asking bool
}

func newAttendance(ask func(context.Context) string) *attendance {
	a := &attendance{ask: ask, answers: make(chan string, 1)}
	a.changed(time.Now())
	return a
}

// changed takes back what was known: someone has written.
func (a *attendance) changed(now time.Time) { a.absent, a.next = "", now.Add(quiet) }

// look asks, if it is time to.
func (a *attendance) look(ctx context.Context, now time.Time) {
	if a.asking || now.Before(a.next) {
		return
	}
	a.asking, a.next = true, now.Add(askAgain)
	go func() { a.answers <- a.ask(ctx) }()
}

// keep records a result. One that differs only in its time doesn't count as a change.
func (a *attendance) keep(absent string) {
	a.asking = false
	if a.absent == "" || absent == "" {
		a.absent = absent
	}
}

// unattended returns the finding that no manager works on an object; empty if that can't be found out, since it is only a hint.
func unattended(ctx context.Context, cluster *connect.Cluster, of *unstructured.Unstructured) string {
	root := of.DeepCopy()
	if cluster.Client.Get(ctx, client.ObjectKeyFromObject(of), root) != nil {
		return ""
	}
	members, err := family.Source{Client: cluster.Client, Discovery: cluster.Discovery}.Gather(ctx, root)
	if err != nil {
		return ""
	}
	managers, err := leader.Read(ctx, cluster.Client, "")
	if err != nil {
		managers = nil // an unrecorded end shows it as well
	}
	found := diagnose.Unattended(diagnose.Facts{Now: time.Now(), Root: diagnose.Of(members.Root, nil), Managers: managers})
	if found == nil {
		return ""
	}
	return found.Reason + ": " + found.Message
}
