package v1beta1

import (
	"encoding/json"
	"maps"
	"strings"
)

// AppConfigGroups are groups of an application's own configuration. In JSON they are a list, or a map from name to
// group; they are written as a list.
type AppConfigGroups []AppConfigGroup

// AppConfigGroup is configuration of the application. The pods of the nodes that name it receive it as files of a
// ConfigMap; a change replaces the pods.
//
// If a node names several groups, files of a later group replace those of an earlier one, data is concatenated in that
// order, and properties are merged: first the common ones of all groups, then their own, then their overrides.
type AppConfigGroup struct {
	// Name is the group's name for nodes. Two groups of the same name are refused.
	Name string `json:"name"`

	// Scope is common if nodes have the group without naming it, before the groups that they name. Default: node.
	Scope ConfigScope `json:"scope,omitempty"`

	// NodeType is the node type of the group: a node of another type that names it is refused, and with the scope common
	// only nodes of this type have it. Default: all node types.
	NodeType string `json:"nodeType,omitempty"`

	// Data is a configuration file in the application's format.
	Data string `json:"data,omitempty"`

	// Files are more files, by name.
	Files map[string]string `json:"files,omitempty"`

	// CommonRuntimeProperties are lines key=value for all nodes. Together with runtimeProperties and overrideProperties
	// they become one file of properties: a repeated key replaces the earlier one, in the order common, own, override.
	CommonRuntimeProperties string `json:"commonRuntimeProperties,omitempty"`

	// RuntimeProperties are the group's own properties.
	RuntimeProperties string `json:"runtimeProperties,omitempty"`

	// OverrideProperties take precedence over all others.
	OverrideProperties string `json:"overrideProperties,omitempty"`

	// Other are all other fields, as JSON, such as java_opts. The application's operator defines which of them it
	// accepts; others are refused.
	Other map[string]json.RawMessage `json:"-"`

	// Malformed is set if the group couldn't be decoded.
	Malformed *Malformed `json:"-"`
}

// ConfigScope defines which nodes have a group.
type ConfigScope string

const (
	// ScopeNode selects the nodes that name the group. It is the default.
	ScopeNode ConfigScope = "node"
	// ScopeCommon selects all nodes, or all of the group's node type.
	ScopeCommon ConfigScope = "common"
)

// appConfigField is what a node's field is called that names its AppConfigGroup.
const appConfigField = "appConfigGroup"

// isAppConfigName reports whether an application may call that field so.
func isAppConfigName(name string) bool {
	return strings.HasSuffix(name, "Config") || strings.HasSuffix(name, "ConfigGroup")
}

// UnmarshalJSON reads a list of groups, or a map from name to group. It never fails; see [Malformed].
func (g *AppConfigGroups) UnmarshalJSON(data []byte) error {
	*g = nil
	readGroups(data, func(name string, raw json.RawMessage, bad *Malformed) {
		group := AppConfigGroup{Name: name, Malformed: bad}
		if bad == nil {
			group = readAppConfigGroup(name, raw)
		}
		*g = append(*g, group)
	})
	var field keeper
	for i := range *g {
		field.keep((*g)[i].Malformed, data)
	}
	return nil
}

// MarshalJSON writes a list, or what couldn't be read as it was.
func (g AppConfigGroups) MarshalJSON() ([]byte, error) {
	return writeList(g, func(group AppConfigGroup) (any, *Malformed) { return group.fields(), group.Malformed })
}

// fields are those of the group with what the application has beside them.
func (g AppConfigGroup) fields() map[string]any {
	fields := map[string]any{"name": g.Name}
	for name, value := range g.Other {
		fields[name] = value
	}
	for name, text := range g.texts() {
		if *text != "" {
			fields[name] = *text
		}
	}
	if len(g.Files) > 0 {
		fields["files"] = maps.Clone(g.Files)
	}
	return fields
}

// texts are the group's fields that are text.
func (g *AppConfigGroup) texts() map[string]*string {
	return map[string]*string{
		"data": &g.Data, "commonRuntimeProperties": &g.CommonRuntimeProperties,
		"runtimeProperties": &g.RuntimeProperties, "overrideProperties": &g.OverrideProperties,
		"scope": (*string)(&g.Scope), "nodeType": &g.NodeType,
	}
}

func readAppConfigGroup(name string, raw json.RawMessage) AppConfigGroup {
	type plain AppConfigGroup
	known, other := mapOf(raw), map[string]json.RawMessage{}
	empty := AppConfigGroup{}
	texts := empty.texts()
	for field, value := range known {
		if _, ok := texts[field]; !ok && field != "name" && field != "files" {
			other[field] = value
			delete(known, field)
		}
	}
	var group plain
	why := readStrictly(known, &group)
	if len(other) > 0 {
		group.Other = other
	}
	if why == "" {
		group.Name, why = nameOfGroup(name, group.Name)
	}
	if why != "" {
		group.Malformed = &Malformed{Why: why}
	}
	return AppConfigGroup(group)
}
