package hostlist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	tests := map[string]struct{ hosts, want string }{
		"none":                    {"", ""},
		"one":                     {"node-1", "node-1"},
		"a range":                 {"node-3 node-1 node-2", "node-[1-3]"},
		"ranges and singles":      {"node-1 node-2 node-3 node-7 node-9 node-10 node-11", "node-[1-3,7,9-11]"},
		"no dash":                 {"gpu1 gpu2 cpu7 login", "login,cpu7,gpu[1-2]"},
		"a dash, then letters":    {"rack1-node8 rack1-node9", "rack1-node[8-9]"},
		"filled up with zeros":    {"n-008 n-009 n-010 n-011", "n-[008-011]"},
		"with zeros and without":  {"n-8 n-08 n-9 n-09 n-10", "n-[8-9,08-10]"},
		"a domain":                {"ip-10-0-1-4.ec2.internal ip-10-0-1-5.ec2.internal ip-10-0-2-4.ec2.internal", "ip-10-0-1-[4-5].ec2.internal,ip-10-0-2-4.ec2.internal"},
		"addresses":               {"10.0.0.5 10.0.0.6 10.0.1.5", "10.0.0.[5-6],10.0.1.5"},
		"no numbers":              {"gke-pool-x7k2 gke-pool-9fzb gke-pool-aaaa", "gke-pool-[9fzb,aaaa,x7k2]"},
		"twice":                   {"a-1 a-1 b b", "b,a-1"},
		"too large for a number":  {"n-1234567890123456789 n-1234567890123456790", "n-[1234567890123456789,1234567890123456790]"},
		"letters on their own":    {"a b c", "[a,b,c]"},
		"a number on its own":     {"1 2", "[1-2]"},
		"a word that ends a part": {"minikube minikube-m02 minikube-m03", "minikube,minikube-m[02-03]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			hosts := strings.Fields(tt.hosts)
			assert.Equal(t, tt.want, Format(hosts))
			for _, n := range hosts {
				assert.True(t, Parse(tt.want).Has(n), n)
			}
		})
	}
}

func TestHasNothingElse(t *testing.T) {
	list := Parse("node-[1-3,007-010,x].d,login")
	for _, n := range []string{"node-1.d", "node-3.d", "node-007.d", "node-010.d", "node-x.d", "login"} {
		assert.True(t, list.Has(n), n)
	}
	for _, n := range []string{"node-1", "node-4.d", "node-01.d", "node-7.d", "node-10.d", "node-0010.d", "node-.d", "node-1-3.d", "log", "", "node-[1-3,007-010,x].d"} {
		assert.False(t, list.Has(n), n)
	}
	assert.False(t, List(nil).Has("a"))
}

func TestParseTakesWhatIsBroken(t *testing.T) {
	for _, text := range []string{",", "[", "]", "a[", "a[1-", "a[1-2", "a[-]b", "a[,]", "[]", "a]b", "a[1-999999999999999999]"} {
		assert.NotPanics(t, func() { Parse(text).Has("a1") }, text)
	}
}

// hosts are like those of real nodes, so that many have things in common.
var hosts = rapid.Custom(func(t *rapid.T) string {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"node", "ip-10-0-0", "gke-pool-a1b2", "n", "10.0.0", "a-", "0"}),
		rapid.StringMatching(`[a-z0-9]{0,3}`))
	number := rapid.OneOf(rapid.StringMatching(`[0-9]{1,3}`), rapid.StringMatching(`[a-z0-9]{1,4}`))
	join := rapid.SampledFrom([]string{"", "-", "."})
	domain := rapid.SampledFrom([]string{"", ".ec2.internal", ".1", ".x"})
	return part.Draw(t, "part") + join.Draw(t, "join") + number.Draw(t, "number") + domain.Draw(t, "domain")
})

func TestAListHasItsNamesAndNoOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(hosts).Draw(t, "in")
		out := rapid.SliceOf(hosts).Draw(t, "out")
		text := Format(in)
		list := Parse(text)
		for _, n := range in {
			assert.True(t, list.Has(n), "%s is in %s", n, text)
		}
		for _, n := range out {
			assert.Equal(t, slices.Contains(in, n), list.Has(n), "%s is in %s", n, text)
		}
		shuffled := slices.Clone(in)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		assert.Equal(t, text, Format(shuffled))
	})
}

func TestSizes(t *testing.T) {
	const nodes = 5000
	for name, tt := range map[string]struct {
		node  func(i int) string
		bytes int
	}{
		"numbers in a row": {func(i int) string { return fmt.Sprint("worker-", i) }, 20},
		"every other one":  {func(i int) string { return fmt.Sprint("worker-", 2*i) }, 24 << 10},
		"random endings":   {func(i int) string { return fmt.Sprintf("gke-main-pool-3f2a1b9c-%04x", i*7919%65536) }, 28 << 10},
		"addresses in EC2": {func(i int) string { return fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", i/50, i*37%256) }, 22 << 10},
		"random hosts":     {func(i int) string { return fmt.Sprintf("%08x.example.org", i*2654435761%4294967296) }, 46 << 10},
	} {
		var all []string
		for i := range nodes {
			all = append(all, tt.node(i))
		}
		size := len(Format(all))
		t.Logf("%s: %d bytes for %d nodes", name, size, nodes)
		assert.LessOrEqual(t, size, tt.bytes, name)
	}
}
