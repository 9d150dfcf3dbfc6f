package when

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// jobType is the name of the type of the values of jobs.
const jobType = "Job"

// jobFields are the fields of a Job.
var jobFields = map[string]*types.Type{
	"succeeded": types.BoolType,
	"failed":    types.BoolType,
	"skipped":   types.BoolType,
	"output":    types.StringType,
}

// provider adds the type Job to those of CEL.
type provider struct{ *types.Registry }

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if name == jobType {
		return types.NewTypeTypeWithParam(types.NewObjectType(jobType)), true
	}
	return p.Registry.FindStructType(name)
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if name != jobType {
		return p.Registry.FindStructFieldType(name, field)
	}
	t, ok := jobFields[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{Type: t}, true
}

// environments are made once; each takes a millisecond.
var environments = sync.OnceValues(func() (e struct{ flow, finally *cel.Env }, err error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return e, err
	}
	e.flow, err = cel.NewCustomEnv(
		cel.StdLib(withoutMatches),
		boundedMatches(),
		cel.CustomTypeProvider(provider{registry}),
		cel.CustomTypeAdapter(registry),
		cel.Variable("jobs", cel.MapType(cel.StringType, cel.ObjectType(jobType))),
	)
	if err != nil {
		return e, err
	}
	e.finally, err = e.flow.Extend(cel.Variable("state", cel.StringType))
	return e, err
})
