package when

import (
	"github.com/google/cel-go/cel"
	lru "github.com/hashicorp/golang-lru/v2"
)

// maxPrograms bounds the programs that are kept, of all flows together: some 5 MB of usual ones, and 100 MB of the longest.
// An expression is evaluated about once in the life of a flow, so that nothing is gained by more.
const maxPrograms = 500

// interruptCheck is after how many iterations of a comprehension an evaluation checks whether its context has ended.
const interruptCheck = 100

// programs are those that were evaluated last, by source. Flows share them.
var programs, _ = lru.New[source, cel.Program](maxPrograms) // fails only for a size below 1

func (s source) program() (cel.Program, error) {
	if known, ok := programs.Get(s); ok {
		return known, nil
	}
	env, checked, wrong := s.check()
	if wrong != nil {
		return nil, wrong
	}
	program, err := env.Program(checked, cel.CostTracking(actual{}), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(interruptCheck))
	if err != nil {
		return nil, err
	}
	programs.Add(s, program) //purity:ignore a program is a function of its source, and only saves time
	return program, nil
}
