package buildertest

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// WithWatched returns a view, such as one of [builder.NewView], with further objects that the operator Watches, for tests of
// plans. [builder.Watched] and [builder.Lookup] find them. The view itself stays as it is.
func WithWatched[O client.Object](v builder.View, objs ...O) builder.View {
	watched := make([]client.Object, len(objs))
	for i, o := range objs {
		watched[i] = o
	}
	return v.With(watched, nil)
}

// WithExternal returns a view with the state of something outside the cluster, which the function [builder.External] finds,
// for tests of plans. The view itself stays as it is.
func WithExternal(v builder.View, state any) builder.View { return v.With(nil, state) }
