package scaling

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// An answer of a source is a number of 0 or more, or an error that doesn't repeat it: who may create a Scaling may not read by it what
// the manager's network reaches.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		" 12.5e1\n", "-1", "NaN", "1e999", "0x10", "1_000", `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"NaN"]}]}}`, `{"status":"success","data":{"resultType":"vector","result":null}}`,
	} {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for name, parse := range map[string]func(string) (float64, error){"number": parseNumber, "query": parseQuery} {
			value, err := parse(answer)
			if err != nil {
				assert.Less(t, len(err.Error()), 200, name)
				continue
			}
			assert.False(t, math.IsNaN(value) || math.IsInf(value, 0) || value < 0, "%s: %v", name, value)
		}
	})
}

// A URL that is accepted has a scheme of HTTP's and a host, and no user.
func FuzzURL(f *testing.F) {
	for _, text := range []string{"https://host/path?x={namespace}", "http://{cluster}.{namespace}.svc:80/{node}", "ftp://x", "https://u:p@h", "http://[::1%25lo]/", "http://h/\x00"} {
		f.Add(text, "ns", "cluster")
	}
	f.Add("http://{namespace}", "#", "0") // no namespace, but the check doesn't rest on that
	f.Fuzz(func(t *testing.T, text, namespace, cluster string) {
		u, err := urlOf(text, question{namespace, cluster, "node", "storage"})
		if err != nil {
			return
		}
		assert.Contains(t, []string{"http", "https"}, u.Scheme)
		assert.NotEmpty(t, u.Host)
		assert.Nil(t, u.User)
	})
}
