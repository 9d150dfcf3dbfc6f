package crd

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Validate returns what the schema doesn't admit, as the API server says it, without CEL rules and duplicates in sets and maps. An update
// may keep what is wrong in the old object; nil: none.
func (k *Kind) Validate(obj, old map[string]any) field.ErrorList {
	known := map[string]bool{}
	if old != nil {
		for _, err := range fieldErrors(k.validator().Validate(old)) {
			known[err.Error()] = true
		}
	}
	var errs field.ErrorList
	for _, err := range fieldErrors(k.validator().Validate(obj)) {
		if !known[err.Error()] {
			errs = append(errs, err)
		}
	}
	return errs
}

func (k *Kind) newValidator() *validate.SchemaValidator {
	copied := runtime.DeepCopyJSON(k.schema)
	typeIntOrString(copied)
	data, err := json.Marshal(copied)
	if err != nil {
		panic(err)
	}
	model := &spec.Schema{}
	if err := json.Unmarshal(data, model); err != nil {
		panic(err)
	}
	return validate.NewSchemaValidator(model, nil, "", strfmt.Default)
}

// typeIntOrString sets the two types of each x-kubernetes-int-or-string, as the API server does.
func typeIntOrString(value any) {
	switch v := value.(type) {
	case map[string]any:
		if v["x-kubernetes-int-or-string"] == true {
			v["type"] = []any{"integer", "string"}
		}
		for _, child := range v {
			typeIntOrString(child)
		}
	case []any:
		for _, child := range v {
			typeIntOrString(child)
		}
	}
}

// fieldErrors converts errors as kubeOpenAPIResultToFieldErrors of k8s.io/apiextensions-apiserver/pkg/apiserver/validation does.
func fieldErrors(result *validate.Result) field.ErrorList {
	var errs field.ErrorList
	for _, err := range result.Errors {
		v, ok := err.(*openapierrors.Validation) //nolint:errorlint // the list has no wrapped ones
		if !ok {
			errs = append(errs, field.Invalid(nil, "", err.Error()))
			continue
		}
		var path *field.Path
		if name := strings.TrimPrefix(v.Name, "."); name != "" {
			path = field.NewPath(name)
		}
		value := v.Value
		if value == nil {
			value = ""
		}
		switch v.Code() {
		case openapierrors.RequiredFailCode:
			errs = append(errs, field.Required(path, ""))
		case openapierrors.EnumFailCode:
			errs = append(errs, field.NotSupported(path, v.Value, textsOf(v.Values)))
		case openapierrors.TooLongFailCode:
			errs = append(errs, field.TooLong(path, "", numberOf(v.Valid)))
		case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
			errs = append(errs, field.TooMany(path, numberOf(v.Value), numberOf(v.Valid)))
		case openapierrors.InvalidTypeCode:
			errs = append(errs, field.TypeInvalid(path, value, v.Error()))
		default:
			errs = append(errs, field.Invalid(path, value, v.Error()))
		}
	}
	return errs
}

func textsOf(values []any) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return texts
}

func numberOf(value any) int {
	if n, ok := value.(int64); ok {
		return int(n)
	}
	return -1
}
