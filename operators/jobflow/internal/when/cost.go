package when

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
)

// maxCost bounds the evaluation of one expression, in CEL's units: about one a step. That takes some 13 ms.
const maxCost = 100_000

const (
	maxName   = 63   // characters of a flow's name, a DNS label
	maxOutput = 4096 // characters of an output: Kubernetes cuts it there
)

// Cost returns the maximum cost of an evaluation, in CEL's units. It is at most maxCost, which ends an evaluation.
func (x *Expression) Cost() uint64 { return x.cost }

func costOf(env *cel.Env, checked *cel.Ast, jobs int) (uint64, error) {
	estimate, err := env.EstimateCost(checked, sizes{jobs: uint64(max(jobs, 0))})
	if err != nil {
		return 0, err
	}
	return min(estimate.Max, maxCost), nil
}

// sizes has the maximum size of what an expression reads, for CEL.
type sizes struct{ jobs uint64 }

func (s sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	switch element.Type().Kind() {
	case types.MapKind:
		return &checker.SizeEstimate{Max: s.jobs}
	case types.StringKind:
		if path := element.Path(); len(path) > 0 && path[len(path)-1] == "output" {
			return &checker.SizeEstimate{Max: maxOutput}
		}
		if len(element.Path()) > 0 { // a key of jobs, or state
			return &checker.SizeEstimate{Max: maxName}
		}
	}
	return nil
}
