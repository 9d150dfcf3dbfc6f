package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/flight"
)

// render returns the record of a pass, without values of its Secrets and of those of earlier passes.
func render(p flight.Pass, known *former) (*Pass, error) {
	r := renderer{p.Scheme}
	s := secrets{former: known}
	pass := &Pass{Program: thisProgram(), Operator: p.Operator, View: View{Time: p.Now}}
	var err error
	if pass.Owner, err = r.object(p.Owner); err != nil {
		return nil, err
	}
	if pass.View.Owned, err = r.objects(p.Observed.Children()); err != nil {
		return nil, err
	}
	if pass.View.Watched, err = r.objects(p.Observed.Others()); err != nil {
		return nil, err
	}
	for _, o := range slices.Concat([]Object{pass.Owner}, pass.View.Owned, pass.View.Watched) {
		s.learn(o)
	}
	if p.Plan != nil && p.PlanErr == nil {
		if pass.Plan, err = s.plan(r, *p.Plan); err != nil {
			return nil, err
		}
	}
	if pass.View.External, err = s.external(p.Observed.External); err != nil {
		return nil, err
	}
	if res, ok := p.Result.(builder.Result); ok {
		if pass.Result, err = s.result(res); err != nil {
			return nil, err
		}
	}
	pass.PlanError, pass.Error = s.failure(p.PlanErr), s.failure(p.Err)
	for _, request := range p.Requests {
		pass.Requests = append(pass.Requests, s.request(r, request))
	}
	pass.Owner = s.hideIn(pass.Owner)
	for _, objects := range [][]Object{pass.View.Owned, pass.View.Watched} {
		for i, o := range objects {
			objects[i] = s.hideIn(o)
		}
	}
	if pass.Plan != nil {
		hideLike(pass.Plan.Children, pass.View.Owned)
	}
	return pass, nil
}

// plan renders a plan without values of Secrets, those that it desires itself included.
func (s *secrets) plan(r renderer, p flight.Plan) (*Plan, error) {
	s.observed = map[string]bool{}
	for _, d := range s.values {
		s.observed[d] = true
	}
	for _, c := range p.Children {
		o, err := r.object(c.Object)
		if err != nil {
			return nil, err
		}
		s.learn(o)
	}
	for _, e := range p.Edits {
		if e.After == nil {
			continue
		}
		o, err := r.object(e.After)
		if err != nil {
			return nil, err
		}
		s.learn(o)
	}
	plan, err := r.plan(p, func(argument Object) (string, error) {
		s.learn(argument)
		return hashOf(s.hideIn(argument), s.observed)
	})
	if err != nil {
		return nil, err
	}
	for i := range plan.Children {
		plan.Children[i].Object = s.hideIn(plan.Children[i].Object)
		plan.Children[i].RunOnce = s.hide(plan.Children[i].RunOnce)
	}
	for i, e := range plan.Edits {
		fields, _ := s.hideBelow(e.Fields).(map[string]any)
		plan.Edits[i].Fields = fields
	}
	plan.Status = s.hideBelow(plan.Status)
	for i, text := range plan.WaitingFor {
		if hidden := s.hide(text); hidden != text {
			plan.WaitingFor = slices.Clone(plan.WaitingFor) // it is the plan's own
			plan.WaitingFor[i] = hidden
		}
	}
	for i := range plan.Events {
		plan.Events[i].Note = s.hide(plan.Events[i].Note)
	}
	return plan, nil
}

// external renders the external state. A value that has no JSON is null.
func (s *secrets) external(state any) (*External, error) {
	if state == nil {
		return nil, nil
	}
	external := &External{GoType: fmt.Sprintf("%T", state)}
	text, err := json.Marshal(state)
	if err != nil {
		external.Incomplete = true
		return external, nil //nolint:nilerr // the record says that it is incomplete
	}
	again := reflect.New(reflect.TypeOf(state))
	external.Incomplete = json.Unmarshal(text, again.Interface()) != nil || !reflect.DeepEqual(again.Elem().Interface(), state)
	decoded, err := plain(json.RawMessage(text))
	external.Value = s.hideBelow(decoded)
	return external, err
}

func (s *secrets) result(res builder.Result) (Result, error) {
	result := Result{Unchanged: res.Unchanged, RequeueAfter: res.RequeueAfter}
	for _, c := range res.Changes {
		result.Changes = append(result.Changes, Change{c.Key.String(), c.Reason})
	}
	for _, c := range res.Pending {
		result.Pending = append(result.Pending, Pending{c.Key.String(), c.Phase, c.Reason, s.hide(c.Message)})
	}
	if res.Rollout == nil {
		return result, nil
	}
	state, err := plain(res.Rollout)
	result.Rollout = s.hideBelow(state)
	return result, err
}

func (s *secrets) failure(err error) string {
	if err == nil {
		return ""
	}
	return s.hide(err.Error())
}

func (s *secrets) request(r renderer, of flight.Request) Request {
	request := Request{Verb: of.Verb, Subresource: of.Subresource, DryRun: of.DryRun, Error: s.failure(of.Err)}
	if of.List != nil {
		request.Object = r.kind(of.List)
		return request
	}
	request.Object = r.name(of.Object)
	return request
}
