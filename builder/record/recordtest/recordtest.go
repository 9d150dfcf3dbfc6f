package recordtest

import (
	"bytes"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/record"
)

// Client is a client whose operators record their passes: see [buildertest.NewReconciler].
type Client struct {
	*buildertest.Client
	Recorder *record.Recorder
}

// FlightRecorder returns the recorder to the operator.
func (c Client) FlightRecorder() flight.Recorder { return c.Recorder }

// Replay replays all recorded passes of an operator, of owners of its kind, from the form that they have in a file. The test fails if a
// plan differs from the recorded one, if a pass can't be replayed, or if there is none. It returns the number of passes.
func Replay[T client.Object](t testing.TB, recorder *record.Recorder, operator *builder.Operator[T], scheme *runtime.Scheme) int {
	t.Helper()
	list, err := passesOfFile(recorder, record.Owner{Kind: kindOf[T](t, scheme)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		pass := &list.Items[i]
		replayed, err := record.Replay(operator, scheme, pass)
		if err != nil {
			t.Fatalf("pass %d: %s: %s", i+1, pass.OwnerName(), err)
		}
		for _, d := range replayed.Differences {
			t.Errorf("pass %d: %s: %s is %v in the record, and %v now", i+1, pass.OwnerName(), d.Path, d.Recorded, d.Replayed)
		}
	}
	if len(list.Items) == 0 {
		t.Fatal("no pass is recorded: none wrote anything, or the recorder is too small")
	}
	return len(list.Items)
}

// passesOfFile returns recorded passes in the form that they have in a file.
func passesOfFile(recorder *record.Recorder, of record.Owner) (*record.List, error) {
	list, err := recorder.Passes(of)
	var file bytes.Buffer
	if err == nil {
		err = list.Write(&file)
	}
	if err == nil {
		list, err = record.Read(&file)
	}
	return list, err
}

// kindOf returns the kind of an operator's owners.
func kindOf[T client.Object](t testing.TB, scheme *runtime.Scheme) string {
	t.Helper()
	empty := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	gvk, err := apiutil.GVKForObject(empty, scheme)
	if err != nil {
		t.Fatal(err)
	}
	return gvk.GroupKind().String()
}
