// Package order has Plans that range over maps.
package order

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/armature-dev/armature/builder"
)

type owner struct{ labels map[string]string }

type plan = builder.Plan[*owner]

// These depend on the order.

func Keys(o *owner, view builder.View) plan { // want Keys:"calls order.keys, which makes a list in the order of a map"
	return plan{Children: keys(o.labels)}
}

func keys[M ~map[K]V, K comparable, V any](m M) (all []K) { // want keys:"makes a list in the order of a map"
	for k := range m { // want `makes a list in the order of a map`
		all = append(all, k)
	}
	return all
}

func ByIndex(o *owner, view builder.View) (p plan) { // want ByIndex:"makes a list in the order of a map"
	p.Children = make([]string, len(o.labels))
	i := 0
	for k := range o.labels { // want `makes a list in the order of a map`
		p.Children[i] = k
		i++
	}
	return p
}

func First(o *owner, view builder.View) (p plan) { // want First:"keeps whichever entry of a map comes first"
	for k, v := range o.labels { // want `keeps whichever entry of a map comes first`
		if v == "on" {
			p.Message = k
			break
		}
	}
	return p
}

func Last(o *owner, view builder.View) (p plan) { // want Last:"keeps whichever entry of a map comes last"
	for k := range o.labels { // want `keeps whichever entry of a map comes last`
		p.Message = k
	}
	return p
}

func FirstError(o *owner, view builder.View) (p plan) { // want FirstError:"calls order.check, which returns whichever entry"
	if err := check(o.labels); err != nil {
		p.Message = err.Error()
	}
	return p
}

func check(labels map[string]string) error { // want check:"returns whichever entry of a map comes first"
	for k, v := range labels { // want `returns whichever entry of a map comes first`
		problem := fmt.Errorf("label %s is %q", k, v)
		if v == "" {
			return problem
		}
	}
	return nil
}

func Joined(o *owner, view builder.View) (p plan) { // want Joined:"joins errors in the order of a map"
	var err error
	for k := range o.labels { // want `joins errors in the order of a map`
		err = errors.Join(err, fmt.Errorf("label %s", k))
	}
	p.Message = fmt.Sprint(err)
	return p
}

func Printed(o *owner, view builder.View) (p plan) { // want Printed:"writes in the order of a map"
	var b strings.Builder
	for k := range o.labels { // want `writes in the order of a map`
		fmt.Fprintf(&b, "%s,", k)
	}
	p.Message = b.String()
	return p
}

func Sequence(o *owner, view builder.View) (p plan) { // want Sequence:"collects a map in no order"
	p.Children = slices.AppendSeq(p.Children, maps.Keys(o.labels)) // want `collects a map in no order`
	return p
}

// These don't.

func Sorted(o *owner, view builder.View) (p plan) {
	for _, k := range slices.Sorted(maps.Keys(o.labels)) {
		p.Children = append(p.Children, k)
		p.Message += o.labels[k]
	}
	byValue := slices.SortedFunc(maps.Keys(o.labels), strings.Compare)
	p.Children = append(p.Children, byValue...)
	return p
}

func SortedLater(o *owner, view builder.View) (p plan) {
	list, index := make([]string, len(o.labels)), 0
	for k := range o.labels {
		list[index] = k
		index++
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	all := slices.AppendSeq(list, maps.Values(o.labels))
	slices.SortFunc(all, strings.Compare)
	return p
}

func Unordered(o *owner, view builder.View) (p plan) {
	copied, byValue, sum, longest, found, all := map[string]string{}, map[string][]string{}, 0, 0, false, true
	for k, v := range o.labels {
		copied[k] = v
		byValue[k] = append(byValue[k], v)
		sum += len(v)
		sum = sum + len(k)
		longest = max(longest, len(v))
		all = all && v != ""
		if v == "on" {
			found = true
			break
		}
	}
	for k := range o.labels {
		delete(copied, k)
	}
	type group struct {
		size  int
		names []string
	}
	groups := map[string]*group{}
	for k, v := range o.labels {
		groups[k].size = len(v)
		groups[k].names = append(groups[k].names, v)
		*groups[k] = group{size: len(v)}
	}
	greatest := ""
	for k := range o.labels {
		if k > greatest {
			greatest = k
		}
	}
	_, _, _ = found, longest, all
	p.Message = fmt.Sprint(copied, sum, greatest)
	return p
}

func Elements(o *owner, view builder.View) (p plan) { // want Elements:"writes o.labels.k."
	for _, k := range []string{"a", "b"} { // a list has an order
		p.Children = append(p.Children, k)
		p.Message = k
	}
	for k, v := range o.labels {
		inner := []string{}
		for i := range 2 {
			inner = append(inner, fmt.Sprint(v, i))
		}
		o.labels[k] = strings.Join(inner, ",")
	}
	return p
}
