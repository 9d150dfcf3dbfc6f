package rbac

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Marshal returns a role as YAML, one line a list, after a line that says that it is generated. The same role is always the same text.
func Marshal(role *rbacv1.ClusterRole) []byte {
	var b strings.Builder
	b.WriteString("# Generated from the operator's declarations by go generate. Do not edit.\n")
	fmt.Fprintf(&b, "apiVersion: %s\nkind: ClusterRole\nmetadata:\n", rbacv1.SchemeGroupVersion)
	fmt.Fprintf(&b, "  name: %s\nrules:\n", role.Name)
	for _, rule := range role.Rules {
		if len(rule.NonResourceURLs) > 0 {
			fmt.Fprintf(&b, "- nonResourceURLs: %s\n", list(rule.NonResourceURLs))
		} else {
			fmt.Fprintf(&b, "- apiGroups: %s\n  resources: %s\n", list(rule.APIGroups), list(rule.Resources))
		}
		if len(rule.ResourceNames) > 0 {
			fmt.Fprintf(&b, "  resourceNames: %s\n", list(rule.ResourceNames))
		}
		fmt.Fprintf(&b, "  verbs: %s\n", list(rule.Verbs))
	}
	return []byte(b.String())
}

// list returns a list of YAML in one line.
func list(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; word == "" || word == "*" {
			quoted[i] = `"` + word + `"`
		}
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// ReadFile reads the rules of all ClusterRoles and Roles of a YAML file, as [Parse] does.
func ReadFile(path string) ([]rbacv1.PolicyRule, error) {
	roles, err := ReadRoles(path)
	return rulesIn(roles), err
}

// ReadRoles reads all ClusterRoles and Roles of a YAML file, with the errors of [Parse]. A Role has a namespace, unless the file omits it.
func ReadRoles(path string) ([]rbacv1.ClusterRole, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	roles, err := ParseRoles(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return roles, nil
}

// Parse returns the rules of all ClusterRoles and Roles of a YAML text. A text without a role, and an unknown field of one, is an error.
func Parse(text []byte) ([]rbacv1.PolicyRule, error) {
	roles, err := ParseRoles(text)
	return rulesIn(roles), err
}

func rulesIn(roles []rbacv1.ClusterRole) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for i := range roles {
		rules = append(rules, roles[i].Rules...)
	}
	return rules
}

// ParseRoles is [Parse] with the rules of each role on their own. A Role is the one with this kind, and may have a namespace.
func ParseRoles(text []byte) ([]rbacv1.ClusterRole, error) {
	var roles []rbacv1.ClusterRole
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var is struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal(document, &is); err != nil {
			return nil, err
		}
		gv, err := schema.ParseGroupVersion(is.APIVersion)
		if err != nil || gv.Group != rbacv1.GroupName || is.Kind != "ClusterRole" && is.Kind != "Role" {
			continue
		}
		role := rbacv1.ClusterRole{} // a Role has the same fields, and fewer
		if err := yaml.UnmarshalStrict(document, &role); err != nil {
			return nil, err
		}
		if is.Kind == "ClusterRole" {
			role.Namespace = "" // the API server ignores it
		}
		roles = append(roles, role)
	}
	if len(roles) == 0 {
		return nil, fmt.Errorf("there is no ClusterRole and no Role of %s", rbacv1.GroupName)
	}
	return roles, nil
}
