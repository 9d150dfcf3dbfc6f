package uiserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// inputsOutputs is what goes into a node and what comes out, or of a flow all that is recorded.
type inputsOutputs struct {
	Inputs  []passed `json:"inputs,omitempty"`
	Outputs []passed `json:"outputs,omitempty"`
}

// passed is a value and where it comes from.
type passed struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	From  string `json:"from,omitempty"`
}

// inputsOutputsOf reads a flow, and with a node's name one node. Values from Secrets are named, and never read.
func inputsOutputsOf(flow *v1alpha1.JobFlow, node string) inputsOutputs {
	io := inputsOutputs{}
	for i := range flow.Spec.GlobalParams.Env {
		e := &flow.Spec.GlobalParams.Env[i]
		io.Inputs = append(io.Inputs, passed{Name: e.Name, Value: e.Value, From: cmp.Or(fromOf(e), "globalParams")})
	}
	outputs := map[string]passed{}
	for _, o := range flow.Status.Outputs {
		p := passed{Name: o.Name, Value: o.Value, From: o.Lost}
		outputs[o.Name] = p
		if node == "" || node == o.Name {
			io.Outputs = append(io.Outputs, p)
		}
	}
	spec := specOf(flow, node)
	if spec == nil {
		return io
	}
	for _, in := range spec.Inputs {
		io.Inputs = append(io.Inputs, passed{Name: in.Env, Value: outputs[in.From].Value, From: "the output of " + in.From})
	}
	if each := spec.ForEach; each != nil {
		p := passed{Name: "ITEM", Value: strings.Join(each.Items, ", "), From: fmt.Sprintf("forEach, %d items", len(each.Items))}
		if each.FromOutput != "" {
			p.Value, p.From = outputs[each.FromOutput].Value, "forEach, the output of "+each.FromOutput
		}
		io.Inputs = append(io.Inputs, p)
	}
	if spec.JobTemplate == nil {
		return io
	}
	for _, c := range spec.JobTemplate.Template.Spec.Containers {
		for i := range c.Env {
			e := &c.Env[i]
			io.Inputs = append(io.Inputs, passed{Name: e.Name, Value: e.Value, From: cmp.Or(fromOf(e), "container "+c.Name)})
		}
	}
	return io
}

// fromOf says where a variable comes from that isn't a plain value.
func fromOf(e *corev1.EnvVar) string {
	switch from := e.ValueFrom; {
	case from == nil:
		return ""
	case from.SecretKeyRef != nil:
		return fmt.Sprintf("key %s of Secret %s", from.SecretKeyRef.Key, from.SecretKeyRef.Name)
	case from.ConfigMapKeyRef != nil:
		return fmt.Sprintf("key %s of ConfigMap %s", from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Name)
	case from.FieldRef != nil:
		return "field " + from.FieldRef.FieldPath
	default:
		text, _ := json.Marshal(from)
		return string(text)
	}
}

// specOf returns a node of a flow, nil if it has none of this name.
func specOf(flow *v1alpha1.JobFlow, node string) *v1alpha1.Flow {
	for _, nodes := range [][]v1alpha1.Flow{flow.Spec.Flows, flow.Spec.Finally} {
		for i := range nodes {
			if nodes[i].Name == node {
				return &nodes[i]
			}
		}
	}
	return nil
}
