package lint

import (
	"context"
	"regexp"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/armature-dev/armature/internal/admission"
)

// problem is something that is wrong with a field.
type problem struct{ path, text string }

// problems returns the errors that the API server would report for a new object: unknown fields, values that the schema refuses, and,
// if the object can be read, the errors of the plan.
func (k *kind) problems(given *unstructured.Unstructured) []problem {
	obj := given.DeepCopy()
	if _, ok := obj.Object["metadata"].(map[string]any); !ok {
		if obj.Object["metadata"] != nil {
			return []problem{{"metadata", "want an object, with a name"}}
		}
		obj.Object["metadata"] = map[string]any{}
	}
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(obj.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return []problem{{pathOfDecoding(err), err.Error()}}
	}
	prune := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(obj.Object, k.structure, true, prune)...)
	var found []problem
	for _, path := range unknown {
		found = append(found, problem{path, unknownField})
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(obj.Object, k.structure)
	options := objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true}
	if err, unknown := objectmeta.CoerceWithOptions(nil, obj.Object, k.structure, false, options); err != nil {
		return append(found, problemOf(err))
	} else {
		for _, path := range unknown {
			found = append(found, problem{path, unknownField})
		}
	}
	defaulting.Default(obj.Object, k.structure)
	delete(obj.Object, "status") // a new object has none: it is a subresource

	if meta.Name == "" && meta.GenerateName != "" {
		meta.Name = meta.GenerateName + "xxxxx"
	}
	meta.Namespace = ""
	if k.namespaced {
		meta.Namespace = "default"
		if given.GetNamespace() != "" {
			meta.Namespace = given.GetNamespace()
		}
	}
	wrong := apivalidation.ValidateObjectMetaAccessor(meta, k.namespaced, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	wrong = append(wrong, k.schemaProblems(obj.Object)...)
	for _, err := range wrong {
		found = append(found, problemOf(err))
	}
	if slices.ContainsFunc(wrong, func(err *field.Error) bool { return isOfShape(err) || strings.HasPrefix(err.Field, "metadata") }) {
		return found // the plan would stumble over the same
	}
	obj.SetName(meta.Name)
	obj.SetNamespace(meta.Namespace)
	return append(found, further(planProblems(obj), found)...)
}

// further returns those of a plan's problems that aren't known: the plan also says what the schema does, and what is missing
// because its name was misspelt.
func further(plan, known []problem) []problem {
	return slices.DeleteFunc(plan, func(p problem) bool {
		parent, name := p.path, ""
		if at := strings.LastIndexAny(p.path, ".["); at >= 0 {
			parent, name = p.path[:at], strings.Trim(p.path[at:], ".[]")
		}
		return slices.ContainsFunc(known, func(k problem) bool {
			isMisspelt := k.text == unknownField && strings.HasPrefix(k.path, parent+".") &&
				strings.Contains(p.text, field.ErrorTypeRequired.String())
			isRule := k.path == parent && name != "" && strings.Contains(k.text, name)
			return k.path == p.path || strings.HasPrefix(p.path, k.path+"[") || isMisspelt || isRule
		})
	})
}

const unknownField = "unknown field"

// schemaProblems holds an object against its kind's schema. Its rules aren't asked if the object's shape is wrong.
func (k *kind) schemaProblems(obj map[string]any) field.ErrorList {
	ctx := context.Background()
	errs := validation.ValidateCustomResource(nil, obj, k.types)
	errs = append(errs, objectmeta.Validate(ctx, nil, obj, k.structure, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structure, obj)...)
	if slices.ContainsFunc(errs, isOfShape) {
		return errs
	}
	if k.rules != nil {
		broken, _ := k.rules.Validate(ctx, nil, k.structure, obj, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, broken...)
	}
	return errs
}

// isOfShape reports whether an object has another shape than its schema, so that its rules and its plan are about another one.
func isOfShape(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	default:
		return strings.Contains(err.Detail, "should have at least")
	}
}

func problemOf(err *field.Error) problem {
	path := strings.TrimPrefix(err.Field, "<nil>")
	return problem{strings.TrimPrefix(path, "."), err.ErrorBody()}
}

var decoded = regexp.MustCompile(`Go struct field ObjectMeta\.(\S+) of type`)

// pathOfDecoding returns the field of the metadata that has the wrong type.
func pathOfDecoding(err error) string {
	if found := decoded.FindStringSubmatch(err.Error()); found != nil {
		return "metadata." + strings.TrimPrefix(found[1], "metadata.")
	}
	return "metadata"
}

// A plan says what is wrong in one text: problems, each with its path, one after another.
var (
	pathInText  = regexp.MustCompile(`^((?:flow "[^"]*": )?)((?:spec|metadata)(?:\.[A-Za-z0-9_-]+|\[[^\]]*\])*): `)
	nextProblem = regexp.MustCompile(`; (?:(?:flow "[^"]*": )?(?:spec|metadata)[.\[][^ ]*: |and \d+ more$)`)
)

// planProblems asks the kind's plan.
func planProblems(obj *unstructured.Unstructured) []problem {
	err := admission.Judge(obj)
	if err == nil {
		return nil
	}
	text := err.Error()
	if _, told, ok := strings.Cut(text, " is invalid: spec: Invalid value: "); ok {
		text = told
	} else if _, told, ok := strings.Cut(text, " is invalid: spec: "); ok {
		text = told
	}
	var found []problem
	for _, part := range splitProblems(text) {
		if at := pathInText.FindStringSubmatch(part); at != nil {
			found = append(found, problem{at[2], at[1] + part[len(at[0]):]})
		} else {
			found = append(found, problem{"spec", part})
		}
	}
	return found
}

// splitProblems cuts a text where the next problem begins.
func splitProblems(text string) []string {
	var parts []string
	for {
		next := nextProblem.FindStringIndex(text)
		if next == nil {
			return append(parts, text)
		}
		parts = append(parts, text[:next[0]])
		text = text[next[0]+2:]
	}
}
