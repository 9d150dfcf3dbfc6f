package subset

import (
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// structInfo is the information about a struct type that the walk needs.
type structInfo struct {
	fields []fieldInfo
	// equal compares values that are one value to the API server, whatever their Go fields: a quantity, a time.
	// Nil for all other structs.
	equal func(desired, found reflect.Value) bool
	// emptyIsSet is true if even the zero value has a meaning: an empty selector selects everything.
	emptyIsSet bool
}

type fieldInfo struct {
	index    int
	omitZero bool
	// alwaysSent is true if the field is sent even if it is empty, and so counts as set: a field without omitempty of a custom resource.
	// In Kubernetes' own types such a field can't be distinguished from an absent one, and isn't sent.
	alwaysSent bool
	merging    merging
}

var infos sync.Map // reflect.Type -> *structInfo

func infoOf(t reflect.Type) *structInfo {
	if info, ok := infos.Load(t); ok {
		return info.(*structInfo)
	}
	info, _ := infos.LoadOrStore(t, newInfo(t))
	return info.(*structInfo)
}

// isTypeMeta reports whether a field has the kind of an object, in one of Kubernetes' own types. An object in a cache has none. In an
// embedded object, such as a claim template, that depends on the encoding that was read.
func isTypeMeta(of reflect.Type, field reflect.StructField) bool {
	return field.Anonymous && field.Type == typeMetaType && payload.IsKubernetes(of)
}

var typeMetaType = reflect.TypeFor[metav1.TypeMeta]()

func newInfo(t reflect.Type) *structInfo {
	if equal, ok := values[t]; ok {
		return &structInfo{equal: equal, emptyIsSet: t == labelSelectorType}
	}
	if payload.MarshalsItself(t) {
		return &structInfo{equal: equalJSON}
	}
	info := &structInfo{}
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() || field.Tag.Get("json") == "-" || isTypeMeta(t, field) {
			continue
		}
		_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		info.fields = append(info.fields, fieldInfo{
			index:      i,
			omitZero:   strings.Contains(options, "omitzero"),
			alwaysSent: !payload.IsKubernetes(t) && !field.Anonymous && !strings.Contains(options, "omit"),
			merging:    mergingOf(t, field),
		})
	}
	return info
}
