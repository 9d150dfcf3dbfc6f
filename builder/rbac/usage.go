package rbac

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Usage notes which permissions a program makes use of. The zero value is empty. It is safe for concurrent use.
type Usage struct {
	mu   sync.Mutex
	used map[Permission]bool
}

// Note adds permissions that the program made use of.
func (u *Usage) Note(permissions ...Permission) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.used == nil {
		u.used = map[Permission]bool{}
	}
	for _, p := range permissions {
		p.Name = ""
		u.used[p] = true
	}
}

// Unused returns the permissions of rules that nothing made use of, sorted. It omits those that tests can't cause at will: update of
// finalizers, bind and escalate, for which the API server asks during other requests; patch of events, which repeats one; get beside list,
// which reads what a cache doesn't show yet and allows no more than list does; URLs, because nothing notes their requests.
func (u *Usage) Unused(rules []rbacv1.PolicyRule) []Permission {
	u.mu.Lock()
	defer u.mu.Unlock()
	granted := Permissions(rules)
	return slices.DeleteFunc(slices.Clone(granted), func(p Permission) bool {
		asked := p
		asked.Name = ""
		return u.used[asked] || isSpare(p, granted)
	})
}

// isSpare reports whether a permission is needed though tests can't bring its use about at will.
func isSpare(p Permission, granted []Permission) bool {
	switch {
	case strings.HasSuffix(p.Resource, "/finalizers"), p.Verb == "bind", p.Verb == "escalate", p.URL != "":
		return true
	case p.Resource == "events":
		return p.Verb == "patch"
	case p.Verb == "get":
		list := p
		list.Verb = "list"
		return slices.Contains(granted, list)
	default:
		return false
	}
}

// Allows reports whether rules grant a permission.
func Allows(rules []rbacv1.PolicyRule, p Permission) bool {
	return slices.ContainsFunc(Permissions(rules), p.within)
}

// OfRequest returns the permissions that a request to an API server needs; none for discovery, which everyone may read. A watch
// counts as a list as well: if the server can't stream a list, one precedes the watch.
func OfRequest(r *http.Request) []Permission {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	p := Permission{}
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		p.Group, parts = parts[1], parts[3:]
	default:
		return nil
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	p.Resource = parts[0]
	if len(parts) > 2 {
		p.Resource += "/" + parts[2]
	}
	p.Verb = map[string]string{
		http.MethodPost: "create", http.MethodPatch: "patch", http.MethodPut: "update", http.MethodDelete: "delete",
	}[r.Method]
	switch {
	case r.Method == http.MethodGet && len(parts) > 1:
		p.Verb = "get"
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		p.Verb = "watch"
		list := p
		list.Verb = "list"
		return []Permission{p, list}
	case r.Method == http.MethodGet:
		p.Verb = "list"
	}
	return []Permission{p}
}
