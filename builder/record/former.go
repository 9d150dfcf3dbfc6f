package record

import lru "github.com/hashicorp/golang-lru/v2"

// mostFormer bounds the values that are remembered.
const mostFormer = 10000

// former has the digests of the values of Secrets in earlier passes. A Secret may have another value now, or be deleted, while an older
// child still has the former one in an environment variable.
type former = lru.Cache[string, struct{}]

func newFormer() *former {
	f, _ := lru.New[string, struct{}](mostFormer) // fails only for a size below 1
	return f
}

// hideLike replaces the texts of observed children for which their desired state has a value of a Secret: those that the child has from a
// former value.
func hideLike(children []Child, observed []Object) {
	desired := map[string]Object{}
	for _, c := range children {
		desired[nameOf(c.Object)] = c.Object
	}
	for _, o := range observed {
		home := keyOf(o)
		home.Namespace = "" // a desired child may leave it out
		for _, name := range []string{nameOf(o), home.String()} {
			if like := desired[name]; like != nil {
				hideAt(map[string]any(like), map[string]any(o))
			}
		}
	}
}

// hideAt replaces the texts of an object where another one has a digest.
func hideAt(like, at any) any {
	switch like := like.(type) {
	case string:
		if text, ok := at.(string); ok && token.MatchString(like) && !token.MatchString(text) {
			return digest(text)
		}
	case map[string]any:
		if fields, ok := at.(map[string]any); ok {
			for name := range like {
				if _, there := fields[name]; there {
					fields[name] = hideAt(like[name], fields[name])
				}
			}
		}
	case []any:
		if list, ok := at.([]any); ok {
			for i := range list {
				if peer := peerOf(like, list[i], i); peer != nil {
					list[i] = hideAt(peer, list[i])
				}
			}
		}
	}
	return at
}

// peerOf returns the element of a list with the same name, or at the same place.
func peerOf(list []any, of any, i int) any {
	fields, _ := of.(map[string]any)
	for _, element := range list {
		if peer, ok := element.(map[string]any); ok && fields["name"] != nil && peer["name"] == fields["name"] {
			return peer
		}
	}
	if fields["name"] == nil && i < len(list) {
		return list[i]
	}
	return nil
}
