package utils

import (
	"os"
	"strings"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// denyList names the environment variable with the namespaces, separated by commas, that are left alone.
const denyList = "DENY_LIST"

// Predicates say which objects and changes are worth a pass. Each reports true for those that are.
type Predicates interface {
	IgnoreNamespacePredicate(obj client.Object) bool
	IgnoreObjectPredicate(obj client.Object) bool
	IgnoreUpdate(e event.UpdateEvent) bool
}

// CommonPredicates are Predicates by namespace, by an annotation, and by generation.
type CommonPredicates struct {
	// ControllerName is named in logs.
	ControllerName string
	// IgnoreAnnotation is the annotation that, when "true", makes the controller leave an object alone.
	IgnoreAnnotation string
	// Log says what is left alone. The zero value says nothing.
	Log logr.Logger
}

var _ Predicates = &CommonPredicates{}

// NewCommonPredicates returns CommonPredicates.
func NewCommonPredicates(controllerName, ignoreAnnotation string, log logr.Logger) Predicates {
	return &CommonPredicates{ControllerName: controllerName, IgnoreAnnotation: ignoreAnnotation, Log: log}
}

// IgnoreNamespacePredicate reports whether an object's namespace isn't listed in the environment's DENY_LIST, a list
// separated by commas.
func (c *CommonPredicates) IgnoreNamespacePredicate(obj client.Object) bool {
	for namespace := range strings.SplitSeq(os.Getenv(denyList), ",") {
		if namespace = strings.TrimSpace(namespace); namespace != "" && namespace == obj.GetNamespace() {
			c.ignored(obj, "its namespace is in "+denyList)
			return false
		}
	}
	return true
}

// IgnoreObjectPredicate reports whether an object doesn't have IgnoreAnnotation with the value "true".
func (c *CommonPredicates) IgnoreObjectPredicate(obj client.Object) bool {
	if obj.GetAnnotations()[c.IgnoreAnnotation] == "true" {
		c.ignored(obj, "it is annotated with "+c.IgnoreAnnotation)
		return false
	}
	return true
}

// IgnoreUpdate reports whether an object's generation changed: its spec, or its being deleted. An object of a kind
// without generations (a ConfigMap) may have changed anywhere.
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
