// Command install builds the program devcluster into the user's cache, if it isn't there, and prints its path. Tests that import package
// devcluster find it there. It is the first build that takes minutes:
//
//	go run github.com/armature-dev/armature/devcluster/install@latest
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/armature-dev/armature/devcluster"
)

func main() {
	binary, err := devcluster.Binary(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
	fmt.Println(binary)
}
