package merge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// The order of a merged list is that of the API server's library.
func TestInOrder(t *testing.T) {
	parser, err := typed.NewParser(`types: [{name: set, list: {elementType: {scalar: string}, elementRelationship: associative}}]`)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"}), 0, 7, rapid.ID)
		live, desired := letters.Draw(t, "live"), letters.Draw(t, "desired")
		as := make([]int, len(live))
		for i, element := range live {
			as[i] = slices.Index(desired, element)
		}
		got := []string{}
		for _, p := range inOrder(as, len(desired)) {
			if p.live >= 0 && p.desired >= 0 {
				require.Equal(t, live[p.live], desired[p.desired])
			}
			if p.live >= 0 {
				got = append(got, live[p.live])
			} else {
				got = append(got, desired[p.desired])
			}
		}
		parse := func(list []string) *typed.TypedValue {
			text, err := json.Marshal(list)
			require.NoError(t, err)
			value, err := parser.Type("set").FromYAML(typed.YAMLObject(text))
			require.NoError(t, err)
			return value
		}
		merged, err := parse(live).Merge(parse(desired))
		require.NoError(t, err)
		want := []string{}
		list := merged.AsValue().AsList()
		for i := range list.Length() {
			want = append(want, list.At(i).AsString())
		}
		require.Equal(t, want, got)
	})
}
