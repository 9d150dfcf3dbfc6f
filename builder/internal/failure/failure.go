package failure

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// The causes of errors that builder's users can ask for. Builder documents them.
var (
	// ErrMisuse is the cause of errors that a retry can't fix: the program asks for what can't be.
	ErrMisuse = errors.New("builder misused")
	// ErrNotOwned is the cause of an error about an object that exists and belongs to someone else.
	ErrNotOwned = errors.New("exists and is not ours")
	// ErrImmutable is the cause of an error about a child that can't be changed into the desired one.
	ErrImmutable = errors.New("can't be changed once it exists")
	// ErrDamagedRecord is the cause of errors about records of runs that can't be read. Nothing runs until someone repairs them: to take
	// them for empty would run again what has run.
	ErrDamagedRecord = errors.New("the record of what has run can't be read")
)

// Error is a failure about one object.
type Error struct {
	// Key is the object that the error is about.
	Key store.Key
	// Operation is what was tried.
	Operation string
	// Err is the cause.
	Err error
	// Object is the object, for events; nil if it isn't at hand.
	Object client.Object
	// Fields are the paths of the fields at fault, if more is known than the cause says.
	Fields []string
}

// Error returns what was tried, the object and the cause.
func (e *Error) Error() string { return e.Operation + " " + e.Key.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NotOwned returns the error about an observed object that is someone else's.
func NotOwned(operation string, key store.Key, observed client.Object) *Error {
	whose := "it has no controller"
	if ref := metav1.GetControllerOfNoCopy(observed); ref != nil {
		whose = "it is controlled by " + ref.Kind + " " + ref.Name
	}
	err := fmt.Errorf("%w: %s", ErrNotOwned, whose)
	if operation == "apply" {
		err = fmt.Errorf("%w; delete or rename that object, or give the owner another name", err)
	}
	return &Error{Key: key, Operation: operation, Err: err, Object: observed}
}
