package when

import (
	"fmt"

	"github.com/google/cel-go/common/types"
)

// Job is what an expression sees of a flow.
type Job struct {
	Succeeded, Failed, Skipped bool
	Output                     string
}

// Eval evaluates an expression over these flows, and the state of finally.
//
// It takes no context. The cost limit ends an evaluation after some 13 ms, and all expressions of a flow together after 0.65 s. A
// deadline would be no tighter, and a plan that depends on how fast the machine is would not be a pure function.
func (x *Expression) Eval(jobs map[string]Job, state string) (bool, error) {
	program, err := x.source.program()
	if err != nil {
		return false, err
	}
	values := make(map[string]any, len(jobs))
	for name, job := range jobs {
		value := map[string]any{"succeeded": job.Succeeded, "failed": job.Failed, "skipped": job.Skipped}
		if x.outputs { // what can't be looked at must not look empty
			value["output"] = job.Output
		}
		values[name] = value
	}
	value, _, err := program.Eval(map[string]any{"jobs": values, "state": state})
	if err != nil {
		return false, err
	}
	b, ok := value.(types.Bool)
	if !ok {
		return false, fmt.Errorf("it is a %s, and must be a bool", value.Type())
	}
	return bool(b), nil
}
