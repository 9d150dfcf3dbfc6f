package record

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/testhook"
	"github.com/armature-dev/armature/builder/internal/view"
)

// Replayed is the plan of this program for a recorded pass.
type Replayed struct {
	// Plan is the plan; nil if it is invalid. PlanError then has the cause.
	Plan      *Plan
	PlanError string
	// Differences are the fields in which it differs from the recorded plan, ordered by path. Children are found by their kind,
	// namespace and name.
	Differences []Difference
}

// Difference is a field in which two plans differ.
type Difference struct {
	// Path is the field's path: children["Deployment.apps default/web"].object.spec.replicas.
	Path string `json:"path"`
	// Recorded and Replayed are the field's values as decoded from JSON; nil if the field isn't set.
	Recorded any `json:"recorded"`
	Replayed any `json:"replayed"`
}

// Replay runs an operator's plan for a recorded pass, and compares the result with the recorded plan. The operator needs no manager
// (nil). scheme must know the kinds of the pass; it is the one of the program's manager. Replay makes no request, and calls neither
// External nor Finish. It returns an error if the pass can't be decoded: a kind is unknown to the scheme, or a field doesn't fit its Go
// type. A pass that failed before its plan, because something couldn't be read, is an error too.
func Replay[T client.Object](operator *builder.Operator[T], scheme *runtime.Scheme, pass *Pass) (*Replayed, error) {
	if pass.Plan == nil && pass.PlanError == "" {
		return nil, fmt.Errorf("the pass over %s failed before its plan: %s", pass.OwnerName(), pass.Error)
	}
	owner, observed, err := Input(operator, scheme, pass)
	if err != nil {
		return nil, err
	}
	plan, planErr := testhook.Plan(operator, owner, observed)
	return Compare(scheme, pass, observed, plan.(builder.Plan[T]), planErr)
}

// Input returns the owner and the view of a recorded pass. See [Replay] for the arguments and errors.
func Input[T client.Object](operator *builder.Operator[T], scheme *runtime.Scheme, pass *Pass) (T, builder.View, error) {
	var none T
	d := decoder{scheme: scheme, kinds: flight.Kinds(operator)}
	obj, err := d.object(pass.Owner)
	if err != nil {
		return none, builder.View{}, fmt.Errorf("owner: %w", err)
	}
	owner, ok := obj.(T)
	if !ok {
		return none, builder.View{}, fmt.Errorf("the owner %s is a %T, and the operator's owners are %T", pass.OwnerName(), obj, none)
	}
	owned, err := d.objects(pass.View.Owned)
	if err != nil {
		return none, builder.View{}, fmt.Errorf("view: %w", err)
	}
	watched, err := d.objects(pass.View.Watched)
	if err != nil {
		return none, builder.View{}, fmt.Errorf("view: %w", err)
	}
	var external any
	if e := pass.View.External; e != nil {
		text, err := json.Marshal(e.Value)
		if err != nil {
			return none, builder.View{}, fmt.Errorf("view: external: %w", err)
		}
		external = view.Recorded(text)
	}
	observed := view.Edit(builder.View{Now: pass.View.Time}, func(o *view.Observed) {
		*o = view.Of(slices.Values(owned))
		o.Watch(slices.Values(watched))
		o.External = external
	}).(builder.View)
	return owner, observed, nil
}

// Compare compares a plan, or its error, with that of a recorded pass. observed is the plan's view, of [Input].
func Compare[T client.Object](
	scheme *runtime.Scheme, pass *Pass, observed builder.View, plan builder.Plan[T], planErr error,
) (*Replayed, error) {
	replayed := &Replayed{}
	var err error
	if planErr != nil {
		replayed.PlanError = planErr.Error()
	} else if replayed.Plan, err = rendered(scheme, plan, observed); err != nil {
		return nil, err
	}
	replayed.Differences, err = compare(pass, replayed)
	return replayed, err
}

// rendered returns the record of a plan for a view.
func rendered[T client.Object](scheme *runtime.Scheme, plan builder.Plan[T], observed builder.View) (*Plan, error) {
	r := renderer{scheme}
	var s secrets
	var errs []error
	view.Edit(observed, func(o *view.Observed) {
		for obj := range o.Objects() {
			object, err := r.object(obj)
			errs = append(errs, err)
			s.learn(object)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s.plan(r, flight.PlanOf(plan))
}

// OwnerName returns the kind, namespace and name of the owner: "JobFlow.api.practice.com default/web".
func (p *Pass) OwnerName() string { return nameOf(p.Owner) }

// decoder makes objects of records.
type decoder struct {
	scheme *runtime.Scheme
	kinds  []client.Object // as the operator declares them
}

func (d decoder) objects(all []Object) ([]client.Object, error) {
	objs := make([]client.Object, len(all))
	for i, o := range all {
		obj, err := d.object(o)
		if err != nil {
			return nil, err
		}
		objs[i] = obj
	}
	return objs, nil
}

// object decodes an object into the Go type in which the operator reads it.
func (d decoder) object(o Object) (client.Object, error) {
	u := unstructured.Unstructured{Object: encoded(o)}
	gvk := u.GroupVersionKind()
	for _, like := range d.kinds {
		if _, ok := like.(*unstructured.Unstructured); ok && like.GetObjectKind().GroupVersionKind() == gvk {
			return &u, nil
		}
	}
	empty, err := d.scheme.New(gvk)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(o), err)
	}
	obj, ok := empty.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s: %T is not an object", nameOf(o), empty)
	}
	text, err := json.Marshal(u.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(o), err)
	}
	if err := json.Unmarshal(text, obj); err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(o), err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as in a cache
	return obj, nil
}

// encoded returns a Secret with its digests in base64, and other objects as they are.
func encoded(o Object) Object {
	o = runtime.DeepCopyJSON(o)
	data, ok := o["data"].(map[string]any)
	if !ok || !isSecret(o) {
		return o
	}
	for name, value := range data {
		text, _ := value.(string)
		data[name] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return o
}

// compare returns the differences between the recorded plan and the replayed one.
func compare(pass *Pass, replayed *Replayed) ([]Difference, error) {
	known, err := tokensOf(pass)
	if err != nil {
		return nil, err
	}
	recorded, err := comparableOf(pass.Plan, pass.PlanError, known)
	if err != nil {
		return nil, err
	}
	now, err := comparableOf(replayed.Plan, replayed.PlanError, known)
	if err != nil {
		return nil, err
	}
	var differences []Difference
	for _, c := range delta.Between(recorded, now) {
		if !matches(c.Old, c.New) {
			differences = append(differences, Difference{c.Path, c.Old, c.New})
		}
	}
	return differences, nil
}

// tokensOf returns the digests in the owner and the view of a pass.
func tokensOf(pass *Pass) (map[string]bool, error) {
	text, err := json.Marshal([]any{pass.Owner, pass.View})
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, found := range token.FindAllString(string(text), -1) {
		known[found] = true
	}
	return known, nil
}

// comparableOf returns the fields of a plan or its error, with the children by name.
func comparableOf(plan *Plan, planErr string, known map[string]bool) (map[string]any, error) {
	if plan == nil {
		return map[string]any{"error": planErr}, nil
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	text = withoutMade(text, known)
	var fields map[string]any
	if err := decode(text, &fields); err != nil {
		return nil, err
	}
	children := map[string]any{}
	list, _ := fields["children"].([]any)
	for i, child := range list {
		child, _ := child.(map[string]any)
		object, _ := child["object"].(map[string]any)
		name := nameOf(object)
		if _, twice := children[name]; twice {
			name = fmt.Sprintf("%s (%d)", name, i)
		}
		children[name] = child
	}
	fields["children"] = children
	return fields, nil
}

// matches reports whether two values differ only in what the record doesn't have: the recorded text has a digest where the replayed
// one has the value itself, because the program contains a text that is also the value of a Secret.
func matches(recorded, replayed any) bool {
	text, ok := recorded.(string)
	now, isText := replayed.(string)
	if !ok || !isText || !token.MatchString(text) || token.MatchString(now) {
		return false
	}
	parts := token.Split(text, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	fits, err := regexp.MatchString("(?s)^"+strings.Join(parts, ".+")+"$", now)
	return err == nil && fits
}
