package pathmap

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var testMap = New(map[string]string{
	"/data":        "/r/volumes/d",
	"/data/sub":    "/r/volumes/s",
	"/tmp":         "/r/volumes/t",
	"/dev/message": "/r/0.message",
	"/":            "/never",
	"/tmp/node":    "/tmp/node", // a real path that looks like a container path
})

func TestRewrite(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"all of it", "/data", "/r/volumes/d"},
		{"below", "/data/in.csv", "/r/volumes/d/in.csv"},
		{"trailing slash", "/data/", "/r/volumes/d/"},
		{"flag", "--dir=/data", "--dir=/r/volumes/d"},
		{"list", "/data:/tmp,/data", "/r/volumes/d:/r/volumes/t,/r/volumes/d"},
		{"shell", `cat "/data/x" </data/y >/dev/message;echo`, `cat "/r/volumes/d/x" </r/volumes/d/y >/r/0.message;echo`},
		{"default of a shell variable", "${DIR:-/data}", "${DIR:-/data}"},
		{"longest first", "/data/sub/x /data/subx", "/r/volumes/s/x /r/volumes/d/subx"},
		{"longer name", "/database /data-1 /data.txt /data_x /data~", "/database /data-1 /data.txt /data_x /data~"},
		{"end of another path", "/mnt/data x/data ./data ../data ~/data", "/mnt/data x/data ./data ../data ~/data"},
		{"after a variable", "$HOME/data ${HOME}/data $(pwd)/data", "$HOME/data ${HOME}/data $(pwd)/data"},
		{"URL", "http://host/data file:///data", "http://host/data file:///data"},
		{"replaced text is not looked at again", "/tmp/data", "/r/volumes/t/data"},
		{"real path", "/tmp/node/pods/x /tmp/nodes", "/tmp/node/pods/x /r/volumes/t/nodes"},
		{"root", "/ /x", "/ /x"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := testMap.Rewrite(c.in); got != c.want {
				t.Errorf("Rewrite(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// The rules as a regular expression: what is before, the longest path, what is after.
var rules = regexp.MustCompile(`(^|[^A-Za-z0-9_./})~-])(/tmp/node|/data/sub|/data|/tmp|/dev/message)([^A-Za-z0-9_.~-]|$)`)

func TestRewriteFollowsTheRulesOnAnyText(t *testing.T) {
	pieces := []string{"/data", "/data/sub", "/tmp", "/tmp/node", "/dev/message", "/", "a", "-", ".", "}", ")", " ", "=", ":", "~", "$HOME", "x1", "\n", "é"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var b strings.Builder
		for range random.IntN(8) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if got, want := testMap.Rewrite(b.String()), rewriteByRules(b.String()); got != want {
			t.Fatalf("Rewrite(%q) = %q, want %q", b.String(), got, want)
		}
	}
}

func rewriteByRules(text string) string {
	to := map[string]string{}
	for _, e := range testMap.entries {
		to[e.from] = e.to
	}
	var out strings.Builder
	at := 0
	for at < len(text) {
		// From one character before, which the expression looks at but which
		// may be the end of the path before.
		from := max(at-1, 0)
		m := rules.FindStringSubmatchIndex(text[from:])
		if m == nil {
			break
		}
		start, end := from+m[4], from+m[5]
		out.WriteString(text[at:start])
		out.WriteString(to[text[start:end]])
		at = end
	}
	return out.String() + text[at:]
}

func FuzzRewrite(f *testing.F) {
	f.Add("--dir=/data/x")
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "/") && testMap.Rewrite(text) != text {
			t.Errorf("Rewrite changed %q, which has no path", text)
		}
	})
}
