package readiness

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// condition is a condition of any kind's own type.
type condition struct {
	kind, status, reason, message string
	observed                      int64
}

func (c condition) String() string {
	if c.message == "" {
		return c.kind + "=" + c.status + " " + c.reason
	}
	return why(c.reason, c.message)
}

// why joins a reason and a message; each may be empty.
func why(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return reason + ": " + message
}

// conditioned is builder.Conditioned.
type conditioned interface {
	Conditions() *[]metav1.Condition
}

// ofConditions evaluates kinds without their own rule by their status: status.observedGeneration, if set, the conditions Stalled,
// Reconciling and Ready, and the conditions Established and NamesAccepted of a CustomResourceDefinition. A kind without any of these
// is ready.
func ofConditions(obj client.Object) Status {
	observed, conditions := reported(obj)
	if observed > 0 {
		if s, is := unobserved(obj, observed); is {
			return s
		}
	}
	by := map[string]condition{}
	for _, c := range conditions {
		by[c.kind] = c
	}
	if isDefinition(obj) {
		return ofDefinition(by)
	}
	if c := by["Stalled"]; c.status == "True" && !outdated(obj, c) {
		return failed("%s", c)
	}
	if c := by["Reconciling"]; c.status == "True" {
		return inProgress("%s", c)
	}
	ready, ok := by["Ready"]
	switch {
	case ok && outdated(obj, ready):
		return inProgress("generation %d is not observed yet", obj.GetGeneration())
	case ok && ready.status != "True":
		return inProgress("%s", ready)
	}
	if _, promises := obj.(conditioned); promises && len(conditions) == 0 {
		return inProgress("has no conditions yet")
	}
	return Status{Ready: true}
}

func outdated(obj client.Object, c condition) bool {
	return c.observed > 0 && c.observed < obj.GetGeneration()
}

func isDefinition(obj client.Object) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.GroupVersionKind().Group == "apiextensions.k8s.io"
	}
	t := reflect.TypeOf(obj).Elem()
	return t.Name() == "CustomResourceDefinition"
}

// ofDefinition evaluates a CustomResourceDefinition: ready when established, failed if its names are taken.
func ofDefinition(by map[string]condition) Status {
	if c := by["NamesAccepted"]; c.status == "False" {
		return failed("%s", c)
	}
	if by["Established"].status != "True" {
		return inProgress("is not established")
	}
	return Status{Ready: true}
}

// reported returns an object's status.observedGeneration and status.conditions.
func reported(obj client.Object) (int64, []condition) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return reportedUntyped(u)
	}
	var observed int64
	var conditions []condition
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		if status := v.Elem().FieldByName("Status"); status.Kind() == reflect.Struct {
			observed = number(status.FieldByName("ObservedGeneration"))
			conditions = reportedTyped(status.FieldByName("Conditions"))
		}
	}
	if c, ok := obj.(conditioned); ok { // of any field
		conditions = reportedTyped(reflect.ValueOf(c.Conditions()).Elem())
	}
	return observed, conditions
}

func reportedTyped(list reflect.Value) []condition {
	if list.Kind() != reflect.Slice || list.Type().Elem().Kind() != reflect.Struct {
		return nil
	}
	var conditions []condition
	for i := range list.Len() {
		c := list.Index(i)
		conditions = append(conditions, condition{
			stringOf(c.FieldByName("Type")), stringOf(c.FieldByName("Status")),
			stringOf(c.FieldByName("Reason")), stringOf(c.FieldByName("Message")),
			number(c.FieldByName("ObservedGeneration")),
		})
	}
	return conditions
}

func stringOf(v reflect.Value) string {
	if v.Kind() != reflect.String {
		return ""
	}
	return v.String()
}

func number(v reflect.Value) int64 {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Int64 {
		return 0
	}
	return v.Int()
}

func reportedUntyped(u *unstructured.Unstructured) (int64, []condition) {
	status, ok := u.Object["status"].(map[string]any)
	if !ok {
		return 0, nil
	}
	var conditions []condition
	list, _ := status["conditions"].([]any)
	for _, e := range list {
		fields, _ := e.(map[string]any)
		field := func(name string) string { s, _ := fields[name].(string); return s }
		conditions = append(conditions, condition{
			field("type"), field("status"), field("reason"), field("message"), integer(fields["observedGeneration"]),
		})
	}
	return integer(status["observedGeneration"]), conditions
}

// integer returns a number of JSON: the decoders of Kubernetes return int64, others float64.
func integer(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	default:
		return 0
	}
}
