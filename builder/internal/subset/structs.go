package subset

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// structInfo is what the walk needs to know of a struct type.
type structInfo struct {
	fields []fieldInfo
	// equal compares values that are one value to the API server, whatever their Go fields: a quantity, a time.
	// Nil for all other structs.
	equal func(desired, found reflect.Value) bool
	// emptyIsSet says that even the zero value means something: an empty selector selects everything.
	emptyIsSet bool
}

type fieldInfo struct {
	index    int
	omitZero bool
	// alwaysSent says that the field goes to the server even if it is empty, and counts as set then: a field without
	// omitempty of a custom resource. Kubernetes' own such fields can't be told from absent ones, and aren't sent.
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

// isTypeMeta reports whether a field says of which kind an object is, in one of Kubernetes' own types: an object in a
// cache has none, and one within an object, such as a claim template, has it or not by the encoding that was read.
func isTypeMeta(of reflect.Type, field reflect.StructField) bool {
	return field.Anonymous && field.Type == typeMetaType && payload.IsKubernetes(of)
}

var typeMetaType = reflect.TypeFor[metav1.TypeMeta]()

var marshalerType = reflect.TypeFor[json.Marshaler]()

func newInfo(t reflect.Type) *structInfo {
	if equal, ok := values[t]; ok {
		return &structInfo{equal: equal, emptyIsSet: t == labelSelectorType}
	}
	if t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType) {
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
