package failure

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// The causes of errors that users of package builder can test for. It documents them.
var (
	// ErrMisuse is the cause of errors in the program, which a retry can't fix.
	ErrMisuse = errors.New("builder misused")
	// ErrNotOwned is the cause of an error about an existing object that the owner doesn't control.
	ErrNotOwned = errors.New("exists and is not ours")
	// ErrImmutable is the cause of an error about a child that can't be changed into the desired one.
	ErrImmutable = errors.New("can't be changed once it exists")
	// ErrDamagedRecord is the cause of errors about damaged records of runs. Nothing runs until someone repairs the record, because an
	// empty record would repeat recorded runs.
	ErrDamagedRecord = errors.New("the record of what has run can't be read")
)

// Error is a failure about one object.
type Error struct {
	// Key identifies the object.
	Key store.Key
	// Operation is the operation that failed.
	Operation string
	// Err is the cause.
	Err error
	// Object is the object, for events; nil if not known.
	Object client.Object
	// Fields are the paths of the fields at fault, if more are known than the cause names.
	Fields []string
}

// Error returns the operation, the object and the cause.
func (e *Error) Error() string { return e.Operation + " " + e.Key.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// MarkedBefore returns the error about an observed object that says it is the owner's, and that another field manager has marked as such.
// That manager is probably a former name of the operator, and the object its child. more is another remedy, empty for none.
func MarkedBefore(operation string, key store.Key, observed client.Object, manager, name, more string) *Error {
	err := fmt.Errorf("%w: it names this owner, but field manager %q has set that, not %q. If that is a former name of this operator, "+
		"give the child builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{%q}})%s",
		ErrNotOwned, manager, name, manager, more)
	return &Error{Key: key, Operation: operation, Err: err, Object: observed}
}

// NotOwned returns the error about an observed object that the owner doesn't own.
func NotOwned(operation string, key store.Key, observed client.Object) *Error {
	whose := "it has no controller"
	if ref := metav1.GetControllerOfNoCopy(observed); ref != nil {
		whose = "it is controlled by " + ref.Kind + " " + ref.Name
	}
	err := fmt.Errorf("%w: %s", ErrNotOwned, whose)
	if operation == "apply" {
		err = fmt.Errorf("%w%s, or give the owner another name", err, wellknown.AdviceNotOwned)
	}
	return &Error{Key: key, Operation: operation, Err: err, Object: observed}
}
