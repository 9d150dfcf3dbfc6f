package controlcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Refusal is the reason why an action can't be asked for.
type Refusal struct{ reason error }

// Error returns the reason.
func (r *Refusal) Error() string { return r.reason.Error() }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.reason }

// attempts limits how often an action is sent for an object that changes all the time.
const attempts = 10

// Send asks for an action of an object as the command of this name does. It sends a merge patch of the object as it was read, and reads
// the object again after a conflict. It returns whether the action wasn't asked for already, and the word for an action that is. The
// error is a [Refusal], or that of a request. The verbs are those of the commands.
func Send(
	verb string, read *unstructured.Unstructured, send func(patch []byte) error, again func() (*unstructured.Unstructured, error),
) (isNews bool, done string, err error) {
	i := slices.IndexFunc(actions, func(a action) bool { return a.verb == verb })
	if i < 0 {
		return false, "", &Refusal{fmt.Errorf("unknown action %q", verb)}
	}
	isNews, err = actions[i].send(read, send, again)
	return isNews, actions[i].done, err
}

// send sends the change of an object. Operators write its status all the time, so it tries again after a conflict, as long as the change
// is the same. Another change may no longer be what is meant: to undo another step, for example. It is a conflict, as another object of
// the name is.
func (a action) send(
	read *unstructured.Unstructured, send func(patch []byte) error, again func() (*unstructured.Unstructured, error),
) (isNews bool, err error) {
	first, err := a.change(read)
	if err != nil || first == nil {
		return false, err
	}
	for range attempts {
		var patch []byte
		if patch, err = ofVersion(read, first); err != nil {
			return false, err
		}
		if err = send(patch); !apierrors.IsConflict(err) {
			return err == nil, err
		}
		now, readErr := again()
		if readErr != nil {
			return false, readErr
		}
		if now.GetUID() != read.GetUID() {
			return false, err
		}
		change, changeErr := a.change(now)
		switch {
		case changeErr != nil || change == nil:
			return false, changeErr
		case !bytes.Equal(change, first):
			return false, err
		}
		read = now
	}
	return false, err
}

// change returns the merge patch that asks for the action of an object; nil if it is asked for already.
func (a action) change(before *unstructured.Unstructured) ([]byte, error) {
	field, err := a.fieldOf(before)
	if err != nil {
		return nil, &Refusal{err}
	}
	after := before.DeepCopy()
	if err := a.set(after, field); err != nil {
		return nil, &Refusal{err}
	}
	if equality.Semantic.DeepEqual(before, after) {
		return nil, nil
	}
	from, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(from, to)
}

// ofVersion returns a patch that is a conflict for another version of the object than the one that was read.
func ofVersion(read *unstructured.Unstructured, patch []byte) ([]byte, error) {
	locked, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": read.GetResourceVersion(), "uid": read.GetUID()},
	})
	if err != nil {
		return nil, err
	}
	return jsonpatch.MergeMergePatches(patch, locked)
}
