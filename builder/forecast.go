package builder

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/disruption"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/internal/errorlist"
)

// A forecast is the dry pass that finds out what a new build disrupts. Unlike another dry pass it shows more than the next pass: the
// changes of all phases, the deletions that pruning would make at the end, and the changes of existing objects beside creates that fail.
// Otherwise an owner would be settled by its first phase, or by an error of today, and its later disruptions would need no turn.
type forecast struct {
	waits   bool // the owner waits for its turn
	unknown bool // the dry run of a change of an existing object has failed, or was omitted after the failure of another
}

// writeAll makes the dry runs of changes before those of creates, because a create that fails, such as by a quota, stops its kind.
func (f *forecast) writeAll(ctx context.Context, cluster *apply.Cluster, writes []*apply.Write) error {
	isChange := func(w *apply.Write) bool { return w.Action == apply.Apply }
	var changes, creates []*apply.Write
	for _, w := range writes {
		if isChange(w) {
			changes = append(changes, w)
		} else {
			creates = append(creates, w)
		}
	}
	err := cluster.WriteAll(ctx, changes)
	if !batch.ReachesAll(err) {
		err = errors.Join(err, cluster.WriteAll(ctx, creates))
	}
	f.unknown = f.unknown || slices.ContainsFunc(writes, func(w *apply.Write) bool { return isChange(w) && w.Operation == "" && !w.Kept })
	return err
}

// disruption returns what the plan of a pass would disrupt, as a preview says it; empty for nothing. It runs a dry pass on what the pass
// has observed. It leaves out the plan's own edits and deletions, which answer to an observed state, and drift, which another writer
// has caused: an operator does both whatever its build is.
//
// A create that fails disrupts nothing, and the pass reports it. Only a conflict, or a failure that affects all requests, is an error.
func (r *reconciler[T]) disruption(ctx context.Context, p *pass) (string, error) {
	dry, err := r.engine.dryRun().newPass(p.owner)
	if err != nil {
		return "", err
	}
	dry.observed.CopyFrom(&p.observed)
	dry.instructions, dry.forecast = p.instructions, &forecast{waits: waitsForTurn(p) != nil}
	dry.edits, dry.deletes = nil, nil
	err = publicError(dry.carryOut(ctx))
	if errors.Is(err, apply.ErrOwnerGone) {
		return "", nil
	}
	goesOn := !dry.forecast.waits && dry.result.Rollout != nil && dry.result.Rollout.State == rollout.Progressing // as a user's change
	if !dry.pruned && !dry.rollsBack && !goesOn && failsToCreate(err) {
		err = publicError(errors.Join(err, dry.deleted(dry.pruner.Prune(ctx, dry.prunes, dry.pruneAll))))
	}
	res := dry.finish(err)
	if fieldsErr := addFields(res); fieldsErr != nil {
		return "", fieldsErr
	}
	var all []string
	for _, c := range res.Changes {
		fields := make([]delta.Change, len(c.Fields))
		for i, f := range c.Fields {
			fields[i] = delta.Change(f)
		}
		if what := disruption.Of(c.Key.Group, c.Reason, fields); what != "" && !c.Drift {
			all = append(all, c.Key.String()+" "+what)
		}
	}
	switch {
	case len(all) > 0:
		return text.List("", all, strings.Clone), nil
	case err == nil:
		return "", nil
	case strings.Contains(err.Error(), "dry run"): // of an admission webhook that allows none
		return "unknown, because no dry run is possible: " + summarize(err), nil
	case IsTerminal(err), failsToCreate(err) && !dry.forecast.unknown:
		return "", nil // the pass itself has the same error
	case batch.ReachesAll(err), slices.ContainsFunc(errorlist.Of(err), isConflict):
		return "", err
	default:
		return "unknown, because its dry run fails: " + summarize(err), nil
	}
}

// failsToCreate reports whether all errors of a pass are about children that can't be created, and a retry may help. They disrupt nothing.
func failsToCreate(err error) bool {
	return !slices.ContainsFunc(errorlist.Of(err), func(leaf error) bool {
		about, ok := errors.AsType[*Error](leaf)
		isCreate := ok && about.Operation == "create" || errors.Is(leaf, ErrNotOwned) || !kinds.MissingUntil(leaf).IsZero()
		return !isCreate || IsTerminal(leaf) || isConflict(leaf) || batch.ReachesAll(leaf)
	})
}
