package buildertest

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	views "github.com/armature-dev/armature/builder/internal/view"
)

// NewView returns a view of children at a time, for tests of plans. It doesn't know the declared kinds of an operator, so a plan may
// read any kind; [PlanFor] checks that too.
func NewView(now time.Time, children ...client.Object) builder.View {
	return edit(builder.View{Now: now}, func(o *views.Observed) { *o = views.Of(slices.Values(children)) })
}

// WithWatched returns a copy of a view, such as one of [NewView], with further objects that the operator Watches, for tests of plans.
// [builder.Watched] and [builder.Lookup] return them.
func WithWatched[O client.Object](v builder.View, objs ...O) builder.View {
	watched := make([]client.Object, len(objs))
	for i, o := range objs {
		watched[i] = o
	}
	return edit(v, func(o *views.Observed) { o.Watch(slices.Values(watched)) })
}

// WithExternal returns a copy of a view with the state of something outside the cluster, which the function [builder.External]
// returns, for tests of plans.
func WithExternal(v builder.View, state any) builder.View {
	return edit(v, func(o *views.Observed) { o.External = state })
}

func edit(v builder.View, change func(*views.Observed)) builder.View {
	return views.Edit(v, change).(builder.View)
}
