package outside

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	m.Run()
	if len(os.Args) > 1 {
		fmt.Println("something was left behind")
	}
	for _, arg := range os.Args {
		if arg == "-test.run=^$" {
			os.Exit(0) // nothing ran, so nothing was left behind
		}
	}
	os.Exit(1)
}

func TestPasses(*testing.T) {}
