package names

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

// What is expected here is fixed: see the package's comment.

func TestCut(t *testing.T) {
	assert.Equal(t, "short", Cut("short", 63))
	long := strings.Repeat("f", 32) + "-" + strings.Repeat("n", 31)
	assert.Equal(t, "ffffffffffffffffffffffffffffffff-nnnnnnnn-a1e9f873fa", Cut(long, ShortLength))
	assert.Len(t, LabelValue(long), MaxLength)
	assert.Equal(t, "a-c61ad642c5", Cut("a"+strings.Repeat("-", 63), 20), "no dashes before the hash's")
}

func TestDNSLabel(t *testing.T) {
	tests := map[string]struct{ name, want string }{
		"as it is":             {"demo-node-1", "demo-node-1"},
		"as long as can be":    {strings.Repeat("n", 63), strings.Repeat("n", 63)},
		"too long":             {strings.Repeat("n", 64), strings.Repeat("n", 41) + "-" + hash(strings.Repeat("n", 64))},
		"dots":                 {"demo-ip-10-0-0-1.ec2.internal", "demo-ip-10-0-0-1-ec2-internal-276f6b9407"},
		"looks like a hash's":  {"demo-a-b-0123456789", "demo-a-b-0123456789-" + hash("demo-a-b-0123456789")},
		"eleven digits aren't": {"demo-a-01234567890", "demo-a-01234567890"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, DNSLabel(tt.name)) })
	}
}

func TestNamesAreValidStableAndApart(t *testing.T) {
	part := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`)
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), ".")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		assert.Empty(t, validation.IsDNS1123Label(DNSLabel(a)), a)
		assert.Empty(t, validation.IsValidLabelValue(LabelValue(a)), a)
		assert.Equal(t, DNSLabel(a), DNSLabel(a))
		if a != b {
			assert.NotEqual(t, DNSLabel(a), DNSLabel(b))
		}
		if dashed := strings.ReplaceAll(a, ".", "-"); dashed != a {
			assert.NotEqual(t, DNSLabel(a), DNSLabel(dashed))
		}
		assert.NotEqual(t, DNSLabel(a+".x"), DNSLabel(DNSLabel(a+".x")), "a name that spells out another's label")
	})
}
