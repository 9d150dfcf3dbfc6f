package record

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/armature-dev/armature/internal/wellknown"
)

// token is a digest of a value of a Secret.
var token = regexp.MustCompile(`digest:[0-9a-f]{32}`)

// key is the key of the digests of this process. With it nobody who has a record can try out passwords.
var key = sync.OnceValue(func() []byte {
	random := make([]byte, sha256.Size)
	_, _ = rand.Read(random) // never fails: it would end the program
	return random
})

// digest returns the digest of a value; that of a digest is itself, so that a replay has the same ones.
func digest(value string) string {
	if value == "" || token.FindString(value) == value {
		return value
	}
	sum := hmac.New(sha256.New, key())
	sum.Write([]byte(value))
	return "digest:" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// shortest is the length from which a value of a Secret is replaced inside of longer texts, too. A shorter one would be found in texts
// that have nothing to do with it.
const shortest = 5

// secrets are the values of the Secrets of a pass.
type secrets struct {
	values   map[string]string // value, in all forms that are looked for -> digest
	observed map[string]bool   // the digests of the owner's and the view's Secrets
	former   *former           // the values of earlier passes; nil: none
	replacer *strings.Replacer
}

// learn adds the values of an object if it is a Secret.
func (s *secrets) learn(o Object) {
	if !isSecret(o) {
		return
	}
	data, _ := o["data"].(map[string]any)
	for _, encoded := range data {
		text, _ := encoded.(string)
		s.add(decoded(text))
	}
	texts, _ := o["stringData"].(map[string]any)
	for _, text := range texts {
		text, _ := text.(string)
		s.add(text)
	}
}

func (s *secrets) add(value string) {
	if value == "" {
		return
	}
	if s.values == nil {
		s.values = map[string]string{}
	}
	d := digest(value)
	if s.former != nil {
		s.former.Add(d, struct{}{})
	}
	for _, form := range []string{value, strings.TrimSpace(value)} {
		quoted, _ := json.Marshal(form) // a string has JSON, which replaces what isn't UTF-8
		var valid string
		_ = json.Unmarshal(quoted, &valid)
		for _, text := range []string{
			form, valid, strings.Trim(string(quoted), `"`), base64.StdEncoding.EncodeToString([]byte(form)),
			base64.RawStdEncoding.EncodeToString([]byte(form)), base64.URLEncoding.EncodeToString([]byte(form)),
			base64.RawURLEncoding.EncodeToString([]byte(form)), hex.EncodeToString([]byte(form)),
		} {
			if text != "" && s.values[text] == "" {
				s.values[text] = d
			}
		}
	}
	s.replacer = nil
}

// hide returns a text without values of Secrets.
func (s *secrets) hide(text string) string {
	if s.values == nil || text == "" {
		return text
	}
	if s.replacer == nil {
		var pairs []string
		for value := range s.values {
			if len(value) >= shortest {
				pairs = append(pairs, value)
			}
		}
		slices.SortFunc(pairs, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) // the longest first
		var all []string
		for _, value := range pairs {
			all = append(all, value, s.values[value])
		}
		s.replacer = strings.NewReplacer(all...)
	}
	return s.replacer.Replace(text)
}

// hideIn replaces the values of Secrets in an object.
func (s *secrets) hideIn(o Object) Object {
	if o == nil {
		return nil
	}
	hidden := Object{}
	for name, value := range o {
		switch name {
		case "apiVersion", "kind":
			hidden[name] = value
		case "metadata":
			hidden[name] = s.hideInMetadata(value)
		default:
			hidden[name] = s.hideBelow(value)
		}
	}
	switch {
	case isSecret(o):
		s.hideData(o, hidden, "data", decoded)
		s.hideData(o, hidden, "stringData", func(text string) string { return text })
	case o["kind"] == "ControllerRevision" && o["data"] != nil:
		text, _ := json.Marshal(o["data"]) // it was decoded from JSON
		hidden["data"] = digest(string(text))
		if text, ok := o["data"].(string); ok {
			hidden["data"] = digest(text)
		}
	}
	return hidden
}

// hideInMetadata leaves the names as they are: they are no secrets, and replays need them.
func (s *secrets) hideInMetadata(value any) any {
	meta, ok := value.(map[string]any)
	if !ok {
		return value
	}
	hidden := map[string]any{}
	for name, value := range meta {
		switch name {
		case "name", "namespace", "uid", "resourceVersion", "generateName", "ownerReferences", "creationTimestamp", "deletionTimestamp":
			hidden[name] = value
		default:
			hidden[name] = s.hideBelow(value)
		}
	}
	return hidden
}

// hideBelow replaces the values of Secrets in a value of JSON.
func (s *secrets) hideBelow(value any) any {
	switch value := value.(type) {
	case string:
		return s.hide(value)
	case []any:
		hidden := make([]any, len(value))
		for i := range value {
			hidden[i] = s.hideBelow(value[i])
		}
		return hidden
	case map[string]any:
		hidden := map[string]any{}
		for name, of := range value {
			hidden[name] = s.hideBelow(of)
		}
		if text, ok := value["value"].(string); ok && value["name"] != nil { // an environment variable
			if value["name"] == wellknown.EnvConfigHash || s.values[text] != "" || s.former != nil && s.former.Contains(digest(text)) {
				hidden["value"] = cmp.Or(s.values[text], digest(text))
			}
		}
		return hidden
	default:
		return value
	}
}

// hideData replaces all values of a field of a Secret.
func (s *secrets) hideData(o, hidden Object, field string, decode func(string) string) {
	data, ok := o[field].(map[string]any)
	if !ok {
		return
	}
	digests := map[string]any{}
	for name, encoded := range data {
		text, _ := encoded.(string)
		value := decode(text)
		digests[name] = cmp.Or(s.values[value], digest(value))
	}
	hidden[field] = digests
}

// made stands for the digest of a value that a plan made itself, such as a new password. Such digests of different processes differ.
const made = "digest of a value that the plan made"

// withoutMade replaces the digests that aren't known from the owner or the view.
func withoutMade(text []byte, known map[string]bool) []byte {
	return token.ReplaceAllFunc(text, func(found []byte) []byte {
		if known[string(found)] {
			return found
		}
		return []byte(made)
	})
}

func isSecret(o Object) bool { return o["kind"] == "Secret" && o["apiVersion"] == "v1" }

// decoded returns the text of a value in a Secret's data. That of a record is a digest, without base64.
func decoded(text string) string {
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	return string(plain)
}
