package when

import (
	"context"

	"github.com/google/cel-go/common/types"
)

// Job is what an expression reads of a flow.
type Job struct {
	Succeeded, Failed, Skipped bool
	Output                     string
}

// Eval evaluates an expression over these flows, and the state of finally.
//
// The cost limit ends an evaluation after some 13 ms, the context at once. There is no deadline: a result that depends on how
// fast the machine is would not be a pure function's.
func (x *Expression) Eval(ctx context.Context, jobs map[string]Job, state string) (bool, error) {
	program, err := x.source.program()
	if err != nil {
		return false, err
	}
	values := make(map[string]any, len(jobs))
	for name, job := range jobs {
		value := map[string]any{"succeeded": job.Succeeded, "failed": job.Failed, "skipped": job.Skipped}
		if x.outputs { // otherwise an expression could read an empty one
			value["output"] = job.Output
		}
		values[name] = value
	}
	value, _, err := program.ContextEval(ctx, map[string]any{"jobs": values, "state": state})
	if err != nil {
		return false, err
	}
	return value == types.True, nil // the check has made sure that it is a bool
}
