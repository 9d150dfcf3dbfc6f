package uiserver

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/validation"
)

// nameOf reads the namespace and the name of a query. They go into selectors, and so must be names.
func nameOf(r *http.Request) (namespace, name string, err error) {
	namespace, name = r.URL.Query().Get("namespace"), r.URL.Query().Get("name")
	if problems := validation.NameIsDNSSubdomain(name, false); len(problems) > 0 {
		return "", "", badRequest(fmt.Sprintf("name: %q: %s", name, problems[0]))
	}
	return namespace, name, checkNamespace(namespace)
}

// checkNamespace accepts no namespace as well: of objects that are in none.
func checkNamespace(namespace string) error {
	if namespace == "" {
		return nil
	}
	if problems := validation.ValidateNamespaceName(namespace, false); len(problems) > 0 {
		return badRequest(fmt.Sprintf("namespace: %q: %s", namespace, problems[0]))
	}
	return nil
}

func notFound(kind, namespace, name string) error {
	return &refusal{http.StatusNotFound, "NotFound", fmt.Sprintf("there is no %s %s in the namespace %s", kind, name, namespace)}
}
