package paths

import (
	"errors"
	"fmt"
	"strings"
)

// Path names a field, or the same field of several elements of a list.
type Path []Step

// Step leads from a value to a part of it. It is either a name (of a field, or of a key of a map) or a choice of the elements of a
// list.
type Step struct {
	Name string
	// Keys are the fields that an element must have, with their values as text. Nil: the step is a name.
	Keys map[string]string
}

// Parse reads a path: names with dots between them. In brackets stands the key of a map, or the key fields of a list element as
// key=value, several with commas between them.
func Parse(text string) (Path, error) {
	if text == "" {
		return nil, errors.New("is empty; want a path such as spec.replicas")
	}
	var path Path
	rest := text
	for rest != "" {
		if rest[0] == '[' {
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, errors.New("has a [ without a ]")
			}
			step, err := bracket(rest[1:end])
			if err != nil {
				return nil, err
			}
			if len(path) == 0 {
				return nil, errors.New("begins with a bracket; want the name of a field first")
			}
			path, rest = append(path, step), rest[end+1:]
			if rest != "" && rest[0] != '.' && rest[0] != '[' {
				return nil, errors.New("has neither a dot nor a bracket after a ]")
			}
			continue
		}
		if len(path) > 0 {
			rest = rest[1:] // the dot: it ends a name, or follows a bracket
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		name := rest[:end]
		if name == "" || strings.ContainsAny(name, "]= \t\n/") {
			return nil, fmt.Errorf("has %q where the name of a field is expected; "+
				"the key of a map goes into brackets, as in metadata.annotations[example.com/x]", name)
		}
		path, rest = append(path, Step{Name: name}), rest[end:]
	}
	return path, nil
}

func bracket(text string) (Step, error) {
	if !strings.Contains(text, "=") {
		if strings.Trim(text, "0123456789") == "" {
			return Step{}, fmt.Errorf("has [%s]; elements of a list are named by a key, as in containers[name=web], not by their place", text)
		}
		return Step{Name: text}, nil
	}
	keys := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			return Step{}, fmt.Errorf("has [%s]; want key=value, several with commas between them", text)
		}
		keys[key] = value
	}
	return Step{Keys: keys}, nil
}
