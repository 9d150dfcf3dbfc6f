package subset

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// generator makes objects of few values, so that two of them often meet, and changes them as servers and people do.
// The same seed makes the same objects.
type generator struct {
	*rand.Rand
	empty float64 // the chance of a field to be left empty
}

func newGenerator(seed uint64, empty uint8) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 1)), empty: 0.2 + 0.75*float64(empty)/255}
}

func (g *generator) one(chance float64) bool { return g.Float64() < chance }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// leaves are the structs that are written as one value.
var leaves = map[reflect.Type]func(g *generator) any{
	reflect.TypeFor[resource.Quantity](): func(g *generator) any {
		return resource.MustParse(pick(g, "1", "1000m", "2", "1Gi", "1024Mi"))
	},
	reflect.TypeFor[intstr.IntOrString](): func(g *generator) any {
		return pick(g, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("1"), intstr.FromString("50%"))
	},
	reflect.TypeFor[metav1.Time]():      func(g *generator) any { return metav1.Unix(int64(1+g.IntN(2)), 0) },
	reflect.TypeFor[metav1.MicroTime](): func(*generator) any { return metav1.MicroTime{Time: time.Unix(1, 0)} },
}

// fill sets a value, which is empty, to something, or leaves it.
func (g *generator) fill(v reflect.Value, m merging) {
	if v.Kind() != reflect.Struct && g.one(g.empty) {
		return
	}
	g.set(v, m)
}

func (g *generator) set(v reflect.Value, m merging) {
	if leaf, ok := leaves[v.Type()]; ok {
		v.Set(reflect.ValueOf(leaf(g)))
		return
	}
	if m, ok := reflect.TypeAssert[*metav1.ObjectMeta](v.Addr()); ok {
		m.Name = "x"
		g.fill(reflect.ValueOf(&m.Labels).Elem(), merging{})
		g.fill(reflect.ValueOf(&m.Annotations).Elem(), merging{})
		g.fill(reflect.ValueOf(&m.Finalizers).Elem(), merging{key: setKey})
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		g.set(v.Elem(), merging{})
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "TypeMeta" && f.Name != "Status" {
				if _, isLeaf := leaves[f.Type]; isLeaf && g.one(g.empty) {
					continue
				}
				g.fill(v.Field(i), mergingOf(v.Type(), f))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 2))
		for range 1 + g.IntN(2) {
			g.addElement(v, m)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + g.IntN(2) {
			g.addEntry(v)
		}
	case reflect.String:
		v.SetString(pick(g, "a", "b", "c"))
	case reflect.Bool:
		v.SetBool(g.one(0.5))
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(g.Int64N(3))
	case reflect.Uint8:
		v.SetUint(g.Uint64N(3))
	}
}

var objectMetaType = reflect.TypeFor[metav1.ObjectMeta]()

func (g *generator) addEntry(m reflect.Value) {
	key, value := reflect.New(m.Type().Key()).Elem(), reflect.New(m.Type().Elem()).Elem()
	g.set(key, merging{})
	if value.Kind() == reflect.String || !g.one(0.1) {
		g.set(value, merging{})
	}
	m.SetMapIndex(key, value)
}

// addElement adds an element to a list, with a key that no other has.
func (g *generator) addElement(list reflect.Value, m merging) {
	e := reflect.New(list.Type().Elem()).Elem()
	g.set(e, merging{})
	if m.key != "" && !g.giveKey(e, list, m.key) {
		return
	}
	list.Set(reflect.Append(list, e))
}

// giveKey gives an element a key that no other has, and the parts of a compound one that a tag doesn't name.
func (g *generator) giveKey(e, list reflect.Value, key string) bool {
	part := e
	if key != setKey {
		for part.Kind() == reflect.Pointer {
			part = part.Elem()
		}
		index, ok := payload.FieldNamed(part.Type(), key)
		if !ok {
			return false
		}
		part = part.FieldByIndex(index)
	}
	switch part.Kind() {
	case reflect.String:
		part.SetString(pick(g, "k", "l", "m", "n"))
	case reflect.Int32:
		part.SetInt(1 + g.Int64N(4))
	default:
		return false
	}
	for i := range list.Len() {
		if (key == setKey && list.Index(i).Equal(e)) || (key != setKey && sameKey(list.Index(i), e, key) && !g.otherProtocol(list.Index(i), e)) {
			return false
		}
	}
	return true
}

// otherProtocol tells ports of one number apart.
func (g *generator) otherProtocol(a, b reflect.Value) bool {
	p, ok := reflect.TypeAssert[corev1.ContainerPort](a)
	q, _ := reflect.TypeAssert[corev1.ContainerPort](b)
	if s, isService := reflect.TypeAssert[corev1.ServicePort](a); isService {
		t := b.Interface().(corev1.ServicePort)
		p.Protocol, q.Protocol, ok = s.Protocol, t.Protocol, true
	}
	protocol := func(p corev1.Protocol) corev1.Protocol {
		if p == "" {
			return corev1.ProtocolTCP
		}
		return p
	}
	return ok && protocol(p.Protocol) != protocol(q.Protocol)
}

// places are what can be changed in a value, with how lists and maps are merged.
type place struct {
	value   reflect.Value
	merging merging
}

func places(v reflect.Value, m merging, all []place) []place {
	if v.CanSet() {
		all = append(all, place{v, m})
	}
	if _, ok := leaves[v.Type()]; ok {
		return all
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			all = places(v.Elem(), merging{}, all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "TypeMeta" || f.Name == "Status" ||
				(v.Type() == objectMetaType && !slices.Contains([]string{"Labels", "Annotations", "Finalizers"}, f.Name)) {
				continue
			}
			all = places(v.Field(i), mergingOf(v.Type(), f), all)
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = places(v.Index(i), merging{}, all)
		}
	}
	return all
}

// change changes one place of an object: as a server sets defaults, as others add, as someone edits or removes.
func (g *generator) change(obj any) {
	all := places(reflectOf(obj), merging{}, nil)
	p := all[g.IntN(len(all))]
	v := p.value
	if v.Type() == objectMetaType || v.Kind() == reflect.Struct && leaves[v.Type()] == nil {
		return
	}
	switch {
	case v.IsZero(): // a default
		g.set(v, p.merging)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 && !g.one(0.2):
		switch g.IntN(3) {
		case 0:
			g.addElement(v, p.merging)
		case 1:
			i := g.IntN(v.Len() + 1)
			if i < v.Len() {
				v.Set(reflect.AppendSlice(v.Slice(0, i), v.Slice(i+1, v.Len())))
			}
		default:
			swap := reflect.Swapper(v.Interface())
			g.Shuffle(v.Len(), swap)
		}
	case v.Kind() == reflect.Map && !g.one(0.2):
		g.addEntry(v)
	case g.one(0.3):
		v.SetZero()
	default:
		g.set(v, p.merging)
	}
}

func reflectOf(obj any) reflect.Value { return reflect.ValueOf(obj).Elem() }
