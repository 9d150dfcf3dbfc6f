package builder

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// present counts the observed children that aren't terminating.
func (p *pass) present() (n int) {
	for _, child := range p.observed {
		if child.GetDeletionTimestamp() == nil {
			n++
		}
	}
	return n
}

// rememberPresent records the number of children after this pass, which is over all of them, for the next pass.
func (p *pass) rememberPresent() {
	if !p.engine.dry {
		p.engine.memory.Counts.Add(p.owner.GetUID(), p.present()+p.added)
	}
}

func (p *pass) rememberObserved(key store.Key) {
	if !p.engine.dry {
		p.engine.memory.Observed.Add(memory.Child{Owner: p.owner.GetUID(), Key: key}, struct{}{})
	}
}

// countAdded counts a child that this pass created or deleted.
func (p *pass) countAdded(op string, k kinds.Kind, key store.Key) {
	switch {
	case !p.listed[k] && !p.listedCrossNamespace[k]:
		p.rememberObserved(key)
	case op == events.ReasonCreated, op == events.ReasonAdopted:
		p.added++
	case op == events.ReasonDeleted, op == events.ReasonRecreating:
		p.added--
	}
}

// deleteOwner deletes an owner in its observed version, or in the version that the pass itself has written. written is the server's
// result of the pass's last status write, nil if the pass didn't write the status.
func (e *Engine) deleteOwner(ctx context.Context, owner, written client.Object) error {
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	present := owner.DeepCopyObject().(client.Object)
	present.SetResourceVersion(e.inventoryOf(owner).ResourceVersion)
	if written != nil {
		present.SetResourceVersion(written.GetResourceVersion())
	}
	_, err = e.delete(ctx, k.Key(owner), present)
	e.emitResult(owner, "delete the owner", Result{}, err)
	return err
}
