package running

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// leftOutTimeout is how long a program waits for the permission to list in a namespace: role bindings may have been applied a moment ago.
	// The program doesn't serve its health meanwhile.
	leftOutTimeout = 15 * time.Second
	// leftOutPeriod is the time between two requests for a refused kind in a namespace until then, and returnPeriod afterwards.
	leftOutPeriod, returnPeriod = 3 * time.Second, time.Minute
	// requestTimeout and requestsAtOnce bound the requests for the permissions.
	requestTimeout, requestsAtOnce = 5 * time.Second, 10
)

// LeftOut is the part of the watched namespaces in which a program may list none of its kinds: the role bindings of a deleted namespace are
// gone with it. The caches are filled only once all namespaces are listed, so one such namespace would stop the work in the others.
// As a runnable of the program's manager, it ends the manager once the program may list in one of them.
type LeftOut struct {
	Names []string

	kept   []string
	kinds  []schema.GroupVersionKind
	client client.Client
}

// LeaveOut returns the watched namespaces to leave out: those in which the API server refuses to list each of the kinds. If it refuses
// only some, the program waits for the missing rules, as it does where it would leave out all namespaces.
func LeaveOut(
	ctx context.Context, cfg *rest.Config, namespaces []string, kinds []schema.GroupVersionKind, logger logr.Logger,
) (*LeftOut, error) {
	if len(namespaces) < 2 {
		return &LeftOut{}, nil
	}
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = requestTimeout
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return nil, err
	}
	return leaveOut(ctx, c, namespaces, kinds, logger), nil
}

func leaveOut(ctx context.Context, c client.Client, namespaces []string, kinds []schema.GroupVersionKind, logger logr.Logger) *LeftOut {
	ctx, cancel := context.WithTimeout(ctx, leftOutTimeout)
	defer cancel()
	l := &LeftOut{client: c}
	for _, kind := range kinds {
		obj := &metav1.PartialObjectMetadata{}
		obj.SetGroupVersionKind(kind)
		namespaced, err := c.IsObjectNamespaced(obj)
		if !meta.IsNoMatchError(err) && (err != nil || namespaced) {
			l.kinds = append(l.kinds, kind)
		}
	}
	refusals, settled := make([]error, len(namespaces)), make([]bool, len(namespaces))
	_ = wait.PollUntilContextCancel(ctx, leftOutPeriod, true, func(ctx context.Context) (bool, error) {
		workqueue.ParallelizeUntil(ctx, requestsAtOnce, len(namespaces), func(i int) {
			if settled[i] {
				return
			}
			if err := l.refusal(ctx, namespaces[i]); ctx.Err() == nil {
				refusals[i], settled[i] = err, err == nil
			}
		})
		return !slices.Contains(settled, false), nil
	})
	for i, name := range namespaces {
		if refusals[i] == nil {
			l.kept = append(l.kept, name)
		} else {
			l.Names = append(l.Names, name)
		}
	}
	if len(l.kept) == 0 {
		return &LeftOut{}
	}
	for i, name := range namespaces {
		if refusals[i] != nil {
			logger.Error(refusals[i], "a namespace of --watch-namespaces is left out: it or its role bindings don't exist; "+
				"once they do, the program ends, to be restarted with the namespace", "namespace", name)
		}
	}
	return l
}

// refusal returns why the API server refuses to list each of the kinds in a namespace; nil if it doesn't refuse one of them.
func (l *LeftOut) refusal(ctx context.Context, namespace string) (err error) {
	for _, kind := range l.kinds {
		// Other errors are no refusals: the caches try again after them.
		if err = l.list(ctx, namespace, kind); !apierrors.IsForbidden(err) {
			return nil
		}
	}
	return err
}

func (l *LeftOut) list(ctx context.Context, namespace string, kind schema.GroupVersionKind) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return l.client.List(ctx, list, client.InNamespace(namespace), client.Limit(1))
}

// Start returns an error once the program may work in one of the namespaces. Only the leader asks, so that replicas don't end together.
func (l *LeftOut) Start(ctx context.Context) error {
	if len(l.Names) == 0 {
		return nil
	}
	var returned string
	err := wait.PollUntilContextCancel(ctx, returnPeriod, false, func(ctx context.Context) (bool, error) {
		i := slices.IndexFunc(l.Names, func(name string) bool { return l.permitted(ctx, name) })
		if i >= 0 {
			returned = l.Names[i]
		}
		return i >= 0, nil
	})
	if err != nil {
		return nil // the program ends
	}
	return fmt.Errorf("the namespace %s, which was left out, can be listed now: restart with it", returned)
}

// permitted reports whether the program may list in a namespace what it may list in the others. With less, it would wait for the rest, and
// do nothing in the others.
func (l *LeftOut) permitted(ctx context.Context, namespace string) (some bool) {
	for _, kind := range l.kinds {
		mayList := func(in string) bool { return l.list(ctx, in, kind) == nil }
		switch {
		case mayList(namespace):
			some = true
		case slices.ContainsFunc(l.kept, mayList):
			return false
		}
	}
	return some
}
