package subset

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// structInfo is what the walk needs to know of a struct type.
type structInfo struct {
	fields []fieldInfo
	// equal compares values that are one value to the API server, whatever their Go fields: a quantity, a time.
	// Nil for all other structs.
	equal func(wanted, found reflect.Value) bool
	// emptyIsSet says that even the zero value means something: an empty selector selects everything.
	emptyIsSet bool
}

type fieldInfo struct {
	index    int
	omitZero bool
	merging  merging
}

// merging is how the API server merges what two writers say about a list or a map.
type merging struct {
	// key is the field by which the elements of a list are told apart, or setKey. Empty: the list is one value.
	key string
	// atomic says that a map is one value. Other maps are merged by key.
	atomic bool
}

// setKey marks a list of scalars that the API server merges as a set.
const setKey = "*"

var infos sync.Map // reflect.Type -> *structInfo

func infoOf(t reflect.Type) *structInfo {
	if info, ok := infos.Load(t); ok {
		return info.(*structInfo)
	}
	info, _ := infos.LoadOrStore(t, newInfo(t))
	return info.(*structInfo)
}

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
		if !field.IsExported() || field.Tag.Get("json") == "-" {
			continue
		}
		_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		info.fields = append(info.fields, fieldInfo{
			index:    i,
			omitZero: strings.Contains(options, "omitzero"),
			merging:  mergingOf(t, field),
		})
	}
	return info
}

// atomicMaps are the maps that are one value to the API server. It says so in comments of its Go types only; all
// others are merged by key.
var atomicMaps = map[reflect.Type]string{
	reflect.TypeFor[corev1.PodSpec]():                   "NodeSelector",
	reflect.TypeFor[corev1.ServiceSpec]():               "Selector",
	reflect.TypeFor[corev1.ReplicationControllerSpec](): "Selector",
}

// mergingOf reads from Kubernetes' own field tags how a list is merged.
func mergingOf(t reflect.Type, field reflect.StructField) merging {
	if atomicMaps[t] == field.Name {
		return merging{atomic: true}
	}
	if !strings.Contains(field.Tag.Get("patchStrategy"), "merge") {
		return merging{}
	}
	if key := field.Tag.Get("patchMergeKey"); key != "" {
		return merging{key: key}
	}
	return merging{key: setKey}
}
