package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Rollout is the last roll-out of an operator. It is JSON.
type Rollout struct {
	// Operator is the operator's name.
	Operator string `json:"operator"`
	// ID names the roll-out: the beginning of the build's digest, and when the roll-out began.
	ID string `json:"id"`
	// State is Progressing, Halted (see [Owner].Halts, and ReadOwners), Aborted or Complete.
	State string `json:"state"`
	// MaxOwners is the limit of owners in their turn.
	MaxOwners string `json:"maxOwners"`
	// Owners is the number of all owners. ReadOwners sets it.
	Owners int `json:"owners"`
	// InTurn and Waiting are the owners in their turn and before it, ordered by namespace and name. ReadOwners sets them.
	InTurn  []Owner `json:"inTurn,omitempty"`
	Waiting []Owner `json:"waiting,omitempty"`
	// Record names the ConfigMap with the roll-out's record: Options.Name and the operator's name, in Options.Namespace.
	Record types.NamespacedName `json:"-"`
	// Written is when the status of an owner with a record of this roll-out was last written. ReadOwners sets it.
	Written time.Time `json:"-"`

	configMap  corev1.ConfigMap
	record     turns.Record
	ownersRead bool
}

// Owner is an owner in a roll-out.
type Owner struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Since is when the turn of an owner in its turn began; otherwise nil.
	Since *metav1.Time `json:"since,omitempty"`
	// Halts is true if the owner halts the roll-out: it has failed, isn't ready in time, or is paused in its turn.
	Halts bool `json:"halts,omitempty"`
	// Passed is true if the roll-out goes on without it: see Resume.
	Passed bool `json:"passed,omitempty"`
	// Why is what the owner waits for, or what its turn disrupts.
	Why string `json:"why,omitempty"`
}

// The states of a Rollout.
const (
	Progressing = string(turns.Progressing)
	Halted      = "Halted"
	Aborted     = string(turns.Aborted)
	Complete    = string(turns.Complete)
)

// List returns the last roll-outs of some operators, or of all if none is named, ordered by namespace and name of their ConfigMaps. It
// reads only the ConfigMaps: ReadOwners adds the owners. An empty namespace means all. It returns errors of the API server. Beside an
// error of a single roll-out, of a ConfigMap that isn't valid, it returns the others.
func List(ctx context.Context, c client.Reader, namespace string, operators ...string) ([]*Rollout, error) {
	var found corev1.ConfigMapList
	which := client.ListOption(client.HasLabels{wellknown.LabelReleases})
	if len(operators) > 0 {
		of, err := labels.NewRequirement(wellknown.LabelReleases, selection.In, operators)
		if err != nil {
			return nil, fmt.Errorf("the name of an operator: %w", err)
		}
		which = client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*of)}
	}
	if err := c.List(ctx, &found, client.InNamespace(namespace), which); err != nil {
		return nil, fmt.Errorf("list the roll-outs: %w", err)
	}
	slices.SortFunc(found.Items, func(a, b corev1.ConfigMap) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	all := make([]*Rollout, 0, len(found.Items)) // never nil, which JSON would write as null
	var errs []error
	for _, cm := range found.Items {
		record, err := turns.ReadRecord(&cm)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, &Rollout{
			Operator: cm.Labels[wellknown.LabelReleases], ID: record.ID, State: string(record.State), MaxOwners: record.Limit,
			Record: client.ObjectKeyFromObject(&cm), configMap: cm, record: record,
		})
	}
	return all, errors.Join(errs...)
}

// ReadOwners sets Owners, InTurn, Waiting and Written of a roll-out that isn't complete, and the state Halted. It reads the objects of the
// operator's kind in all namespaces, and returns errors of the API server.
func (r *Rollout) ReadOwners(ctx context.Context, c client.Reader) error {
	if r.record.State == turns.Complete {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(r.record.Owner.GroupVersion().WithKind(r.record.Owner.Kind + "List"))
	if err := c.List(ctx, list); err != nil {
		return fmt.Errorf("the roll-out of ConfigMap %s/%s: list %s: %w",
			r.configMap.Namespace, r.configMap.Name, r.record.Owner.GroupKind(), err)
	}
	r.State, r.Owners, r.InTurn, r.Waiting, r.ownersRead = string(r.record.State), len(list.Items), nil, nil, true
	for i := range list.Items {
		obj := &list.Items[i]
		mark := turns.MarkOf(conditionsOf(obj))
		if wellknown.IsPaused(obj.GetAnnotations()) && obj.GetDeletionTimestamp() == nil {
			mark = mark.OfPaused()
		}
		if mark.ID == r.record.ID {
			for _, f := range obj.GetManagedFields() {
				if f.Subresource == "status" && f.Time != nil && f.Time.After(r.Written) {
					r.Written = f.Time.Time
				}
			}
		}
		key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
		owner := Owner{
			Kind: r.record.Owner.Kind, Namespace: key.Namespace, Name: key.Name, Why: mark.Why,
			Halts: mark.Reason == events.ReasonRolloutHalted, Passed: slices.Contains(r.record.Passed, key.String()),
		}
		switch {
		case mark.IsInTurn():
			if !mark.Since.IsZero() {
				owner.Since = new(metav1.NewTime(mark.Since))
			}
			r.InTurn = append(r.InTurn, owner)
			if owner.Halts && !owner.Passed && r.State == Progressing {
				r.State = Halted
			}
		case mark.IsWaiting():
			r.Waiting = append(r.Waiting, owner)
		}
	}
	for _, owners := range [][]Owner{r.InTurn, r.Waiting} {
		slices.SortFunc(owners, func(a, b Owner) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
	return nil
}

// conditionsOf returns the conditions of an object; none if its status has none.
func conditionsOf(obj *unstructured.Unstructured) []metav1.Condition {
	var like struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &like); err != nil {
		return nil
	}
	return like.Status.Conditions
}
