package builder

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// An owner may be deleted although the cache shows it. Each kind is watched for itself, and after the API server was away the
// watches come back one by one, up to half a minute apart. A pass that sees the children go, which garbage collection
// deletes, but not their owner, would make them again, and again: what a user has deleted would run once more.
//
// So before a pass creates children it asks the API server for the owner, if some of them have gone since its last pass, or
// if there is no telling. Other passes, and the first one over a new owner, cost no request.

// errOwnerGone ends a pass over an owner that is gone, or about to go: its last pass begins when the cache shows that.
var errOwnerGone = errors.New("the owner is gone")

// confirmOwner returns errOwnerGone if children are to be created for an owner that is gone.
func (p *pass) confirmOwner(ctx context.Context, creates []store.Key) error {
	if p.gone {
		return errOwnerGone
	}
	if p.confirmed || p.engine.dry || !p.engine.readsLive || !p.ownerMayBeGone(creates) {
		return nil
	}
	k, err := p.engine.kinds.Of(p.owner)
	if err != nil {
		return err
	}
	found, err := p.engine.read(ctx, p.engine.live, k, p.ownerKey)
	if err != nil {
		return err
	}
	if found == nil || found.GetUID() != p.owner.GetUID() || found.GetDeletionTimestamp() != nil {
		p.gone = true
		return errOwnerGone
	}
	p.confirmed = true
	return nil
}

// ownerMayBeGone reports whether children are to be created of which there may have been some.
func (p *pass) ownerMayBeGone(creates []store.Key) bool {
	if len(creates) == 0 {
		return false
	}
	again := slices.ContainsFunc(creates, func(key store.Key) bool {
		return p.engine.memory.Observed.Contains(memory.Child{Owner: p.owner.GetUID(), Key: key})
	})
	had, known := p.engine.memory.Counts.Get(p.owner.GetUID())
	if !known {
		return p.hasWrittenToOwner()
	}
	return again || p.present() < had
}

// hasWrittenToOwner reports whether an earlier process, or a colleague who led, has written to the owner.
func (p *pass) hasWrittenToOwner() bool {
	for _, entry := range p.owner.GetManagedFields() {
		if entry.Manager == p.engine.name {
			return true
		}
	}
	return false
}

// present counts the observed children that aren't terminating.
func (p *pass) present() (n int) {
	for _, child := range p.observed {
		if child.GetDeletionTimestamp() == nil {
			n++
		}
	}
	return n
}

// rememberPresent notes for the next pass how many children there are after this one.
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

// countAdded counts a child that came or went in this pass.
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

// deleteOwner deletes an owner, if it is still as it was observed, but for the pass's own writes to it: written is what
// the server made of the last of these writes, nil if its status wasn't written.
func (e *Engine) deleteOwner(ctx context.Context, owner, written client.Object) error {
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	version := e.inventoryOf(owner).ResourceVersion
	if written != nil {
		version = written.GetResourceVersion()
	}
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	obj, err := e.kinds.Empty(k)
	if err != nil {
		return err
	}
	obj.SetNamespace(owner.GetNamespace())
	obj.SetName(owner.GetName())
	err = e.client.Delete(ctx, obj,
		client.Preconditions{UID: ptr.To(owner.GetUID()), ResourceVersion: &version},
		propagation(owner))
	if err != nil && !apierrors.IsNotFound(err) {
		err = &Error{Key: k.Key(owner), Operation: "delete", Err: err, object: owner}
	} else {
		err = nil
	}
	e.tell(owner, "delete the owner", Result{}, err)
	return err
}
