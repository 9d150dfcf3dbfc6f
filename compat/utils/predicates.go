package utils

import (
	"os"
	"strings"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// denyList names the environment variable with the ignored namespaces, separated by commas.
const denyList = "DENY_LIST"

// Predicates select the objects and changes that cause a pass. Each method returns true for those.
type Predicates interface {
	IgnoreNamespacePredicate(obj client.Object) bool
	IgnoreObjectPredicate(obj client.Object) bool
	IgnoreUpdate(e event.UpdateEvent) bool
}

// CommonPredicates select by namespace, by an annotation, and by generation.
type CommonPredicates struct {
	// ControllerName is the controller's name in logs.
	ControllerName string
	// IgnoreAnnotation is the annotation that, with the value "true", makes the controller ignore an object.
	IgnoreAnnotation string
	// Log receives the ignored objects. The zero value logs nothing.
	Log logr.Logger
}

var _ Predicates = &CommonPredicates{}

// NewCommonPredicates returns CommonPredicates.
func NewCommonPredicates(controllerName, ignoreAnnotation string, log logr.Logger) Predicates {
	return &CommonPredicates{ControllerName: controllerName, IgnoreAnnotation: ignoreAnnotation, Log: log}
}

// IgnoreNamespacePredicate returns false if the environment variable DENY_LIST, a list separated by commas, has the object's
// namespace.
func (c *CommonPredicates) IgnoreNamespacePredicate(obj client.Object) bool {
	for namespace := range strings.SplitSeq(os.Getenv(denyList), ",") {
		if namespace = strings.TrimSpace(namespace); namespace != "" && namespace == obj.GetNamespace() {
			c.ignored(obj, "its namespace is in "+denyList)
			return false
		}
	}
	return true
}

// IgnoreObjectPredicate returns false if the object has IgnoreAnnotation with the value "true".
func (c *CommonPredicates) IgnoreObjectPredicate(obj client.Object) bool {
	if obj.GetAnnotations()[c.IgnoreAnnotation] == "true" {
		c.ignored(obj, "it is annotated with "+c.IgnoreAnnotation)
		return false
	}
	return true
}

// IgnoreUpdate reports whether an object's generation changed, because of its spec or its deletion. For a kind without generations (a
// ConfigMap) it returns true, because any field may have changed.
func (c *CommonPredicates) IgnoreUpdate(e event.UpdateEvent) bool {
	if isNil(e.ObjectOld) || isNil(e.ObjectNew) {
		return false
	}
	return e.ObjectNew.GetGeneration() == 0 || e.ObjectNew.GetGeneration() != e.ObjectOld.GetGeneration()
}

func (c *CommonPredicates) ignored(obj client.Object, why string) {
	c.Log.WithName("predicates").Info("object is left alone",
		"controller", c.ControllerName, "namespace", obj.GetNamespace(), "name", obj.GetName(), "why", why)
}
