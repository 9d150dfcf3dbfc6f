// Command purity reports what makes a Plan impure: see package analyzer. It is a tool for go vet:
//
//	go get -tool github.com/armature-dev/armature/tools/purity
//	go vet -vettool="$(go tool -n purity)" ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/armature-dev/armature/tools/purity/analyzer"
)

func main() { unitchecker.Main(analyzer.Analyzer) }
