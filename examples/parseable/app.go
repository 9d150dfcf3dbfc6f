// Package parseable describes Parseable to DSOI's engine: the whole of an operator but for its main function.
package parseable

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/dsoi"
	"github.com/armature-dev/armature/examples/parseable/api/v1beta1"
)

// App is what the engine needs to know of Parseable.
func App() *dsoi.App[*v1beta1.ParseableTenant] {
	return &dsoi.App[*v1beta1.ParseableTenant]{
		Name: "parseable", DataFile: "parseable.env", Fields: []string{"cliArgs", "env"}, Check: check, Pod: pod,
	}
}

func check(_ *v1beta1.ParseableTenant, nodes []dsoi.Node) []string {
	var problems []string
	for _, n := range nodes {
		_, err := environment(n)
		if err == nil {
			_, err = n.Field("cliArgs", new([]string))
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("node %q: %s", n.Name, err))
		}
	}
	return problems
}

// environment returns the variables that a node's configuration sets, in the order of their names.
func environment(n dsoi.Node) ([]corev1.EnvVar, error) {
	set := map[string]string{}
	for _, g := range n.App {
		if err := lines(g.Data, set); err != nil {
			return nil, fmt.Errorf("appConfigGroup %q: data: %w", g.Name, err)
		}
	}
	var env json.RawMessage
	if found, err := n.Field("env", &env); !found || err != nil {
		return sorted(set), err
	}
	var text string
	if json.Unmarshal(env, &text) == nil {
		err := lines(text, set)
		return sorted(set), err
	}
	if err := json.Unmarshal(env, &set); err != nil {
		return nil, fmt.Errorf("env is neither lines NAME=value nor a map from name to text")
	}
	return sorted(set), nil
}

func lines(text string, into map[string]string) error {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return fmt.Errorf("%q is no line NAME=value", line)
		}
		into[name] = value
	}
	return nil
}

func sorted(set map[string]string) []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, corev1.EnvVar{Name: name, Value: set[name]})
	}
	return env
}

func pod(_ *v1beta1.ParseableTenant, n dsoi.Node, pod *corev1.PodTemplateSpec) {
	c := &pod.Spec.Containers[0]
	env, _ := environment(n) // checked
	c.Env = append(c.Env, env...)
	c.Command = []string{"parseable"}
	_, _ = n.Field("cliArgs", &c.Args) // checked
}
