package main

import (
	"fmt"
	"math"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// rules says what the API server holds a field to. That a time, a quantity, or a number or text, is what Go reads goes without saying.
func rules(s *apiextensionsv1.JSONSchemaProps) []string {
	if s.Format == "date-time" {
		return nil
	}
	if s.XIntOrString {
		own := s.DeepCopy()
		own.Pattern, own.MaxLength = "", nil
		if own.Minimum != nil && *own.Minimum == math.MinInt32 {
			own.Minimum = nil
		}
		if own.Maximum != nil && *own.Maximum == math.MaxInt32 {
			own.Maximum = nil
		}
		s = own
	}
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, "`"+strings.Trim(string(v.Raw), `"`)+"`")
		}
		add("one of %s", strings.Join(values, ", "))
	}
	if s.Minimum != nil {
		add("at least %v", *s.Minimum)
	}
	if s.Maximum != nil {
		add("at most %v", int64(*s.Maximum))
	}
	for _, bound := range []struct {
		value     *int64
		text      string
		one, many string
	}{
		{s.MinLength, "at least", "character", "characters"}, {s.MaxLength, "at most", "character", "characters"},
		{s.MinItems, "at least", "item", "items"}, {s.MaxItems, "at most", "item", "items"},
		{s.MinProperties, "at least", "entry", "entries"}, {s.MaxProperties, "at most", "entry", "entries"},
	} {
		switch {
		case bound.value == nil:
		case *bound.value == 1:
			add("%s 1 %s", bound.text, bound.one)
		default:
			add("%s %d %s", bound.text, *bound.value, bound.many)
		}
	}
	if s.Pattern != "" {
		add("it matches `%s`", s.Pattern)
	}
	for _, rule := range s.XValidations {
		message := rule.Message
		if message == "" {
			message = "`" + rule.Rule + "`"
		}
		if rule.FieldPath != "" { // the API server's error begins with it, so the message doesn't name it
			message = strings.TrimPrefix(rule.FieldPath, ".") + " " + message
		}
		add("%s", strings.ReplaceAll(message, "<", "&lt;"))
	}
	if s.Items != nil && s.Items.Schema != nil {
		for _, rule := range rules(s.Items.Schema) {
			add("each item: %s", rule)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for _, rule := range rules(s.AdditionalProperties.Schema) {
			add("each entry: %s", rule)
		}
	}
	return all
}
