package testsize

import (
	"flag"
	"strconv"
	"testing"
)

// Cases lets the rapid properties of a test try n cases in the small size, instead of rapid's 100. A -rapid.checks of the command line
// has precedence. The test's package must import rapid, and the test must not run in parallel with other properties.
func Cases(t testing.TB, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if checks == nil {
		t.Fatal("testsize.Cases: the flag rapid.checks isn't there; want a package that imports pgregory.net/rapid")
	}
	if Long() || checks.Value.String() != checks.DefValue {
		return
	}
	set := func(value string) {
		if err := checks.Value.Set(value); err != nil {
			t.Fatal(err)
		}
	}
	set(strconv.Itoa(n))
	t.Cleanup(func() { set(checks.DefValue) })
}
