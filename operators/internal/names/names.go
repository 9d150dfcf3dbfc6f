package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// MaxLength is what fits in a label's value, where the name of a Job goes too.
	MaxLength = validation.DNS1123LabelMaxLength
	// ShortLength is the length that a Job's name is cut to. Kubernetes appends the rest to it for the pods of an
	// Indexed Job.
	ShortLength = 52
	// hashLength is how many hexadecimal digits stand for what was cut or replaced.
	hashLength = 10
)

// Cut shortens a name that is longer than length to at most that. A hash of the whole name takes the place of its end,
// so that names that begin alike stay apart.
func Cut(name string, length int) string {
	if len(name) <= length {
		return name
	}
	return strings.TrimRight(name[:length-hashLength-1], "-.") + "-" + hash(name)
}

// LabelValue returns a name of Kubernetes' as a label's value: as it is, or cut if it is too long.
func LabelValue(name string) string {
	return Cut(name, MaxLength)
}

// DNSLabel returns a name of Kubernetes' as a DNS label, which is good for the name of a Job and the host names of its
// pods: as it is, or with a hash if it has dots, is too long, or ends in what could be such a hash itself. So no name
// that stays as it is meets one that doesn't, and different names have different labels.
func DNSLabel(name string) string {
	if len(name) <= MaxLength && !strings.Contains(name, ".") && !endsLikeHashed(name) {
		return name
	}
	head := strings.ReplaceAll(name[:min(len(name), ShortLength-hashLength-1)], ".", "-")
	return strings.TrimRight(head, "-") + "-" + hash(name)
}

// endsLikeHashed reports whether a name ends in a dash and what could be a hash.
func endsLikeHashed(name string) bool {
	dash := len(name) - hashLength - 1
	return dash >= 0 && name[dash] == '-' && strings.Trim(name[dash+1:], "0123456789abcdef") == ""
}

func hash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// IsNumber reports whether a part of a name consists of digits.
func IsNumber(part string) bool { return part != "" && strings.Trim(part, "0123456789") == "" }
