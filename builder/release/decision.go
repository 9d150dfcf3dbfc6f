package release

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/turns"
)

// Abort stops a roll-out: no further owner gets a turn, and those that wait keep what they have. An owner in its turn ends it. The
// program obeys within seconds. Abort doesn't read the owners. It returns an error if the roll-out is complete or has changed since it was
// read, and errors of the API server.
func Abort(ctx context.Context, c client.Client, r *Rollout) error {
	return r.decide(ctx, c, "abort", func(record *turns.Record) { record.State = turns.Aborted })
}

// Resume continues a roll-out that is aborted or halted: it goes on despite the owners that are in their turn and halt it. It reads the
// owners, unless [Rollout.ReadOwners] has. The program obeys within seconds. Resume returns an error if the roll-out is complete or has
// changed since it was read, and errors of the API server.
func Resume(ctx context.Context, c client.Client, r *Rollout) error {
	if !r.ownersRead {
		if err := r.ReadOwners(ctx, c); err != nil {
			return err
		}
	}
	return r.decide(ctx, c, "resume", func(record *turns.Record) {
		record.State = turns.Progressing
		for i := range r.InTurn {
			owner := &r.InTurn[i]
			if owner.Halts && !owner.Passed {
				record.Passed = append(slices.Clip(record.Passed), types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}.String())
			}
		}
	})
}

// decide changes the record of the roll-out. The program writes the record, too: after a conflict decide reads it, and changes it again.
// If another user has decided meanwhile, the conflict is the error.
func (r *Rollout) decide(ctx context.Context, c client.Client, verb string, change func(*turns.Record)) error {
	if r.record.State == turns.Complete {
		return fmt.Errorf("the roll-out %s of the operator %s is complete; there is nothing to %s", r.ID, r.Operator, verb)
	}
	decided := r.record
	change(&decided)
	cm := r.configMap.DeepCopy()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		decided.Write(cm)
		conflict := c.Update(ctx, cm)
		if !apierrors.IsConflict(conflict) {
			return conflict
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), cm); err != nil {
			return err
		}
		if now, err := turns.ReadRecord(cm); err != nil || !reflect.DeepEqual(now, r.record) {
			return errors.New("it has changed: " + conflict.Error())
		}
		return conflict
	})
	if err != nil {
		return fmt.Errorf("write the roll-out of the operator %s: %w", r.Operator, err)
	}
	r.configMap, r.record, r.State = *cm, decided, string(decided.State)
	return nil
}
