package jobflow

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// decision is how a flow continues, beside the states of its nodes.
type decision struct {
	start []builder.Child // the Jobs to create

	stopped     bool   // the flow was stopped before its end, in this pass or before
	stopReason  string // set if it is stopped in this pass
	stopMessage string
	outcome     *v1alpha1.FlowsOutcome // what finally gets; set if it is determined in this pass

	causes    []int32 // 1 + the node because of which a node is skipped, as far as that is known
	evaluated uint64  // the cost of the expressions that were evaluated
}

// blocker is why a node can't start until someone acts.
type blocker struct {
	node, reason, message string
}

func (b blocker) String() string { return fmt.Sprintf("flow %q %s", b.node, b.message) }

// decide returns how a flow continues: whether it is stopped, and which nodes are skipped or start.
func (p *pass) decide(o *observed) *decision {
	d := &decision{stopped: p.wasStopped()}
	p.stop(o, d)
	if p.isValid() {
		p.decideFlows(o, d)
		p.decideFinally(o, d)
	}
	return d
}

// decideFlows skips or starts each node that hasn't ended, once its dependencies have. Its time is linear in nodes and edges.
func (p *pass) decideFlows(o *observed, d *decision) {
	var ready []int32
	for _, n := range p.Order {
		i := int(n)
		switch {
		case i >= p.NumFlows, p.States[i].HasEnded(), p.States[i] == record.Running && o.jobs[i] != nil:
			continue
		case !p.canBeDecided(i): // also of a node whose items run, because its list may not be read yet
			continue
		}
		if p.States[i] == record.Pending {
			if d.evaluated >= costOfPass {
				p.startReady(o, d, ready)
				ready = nil
				if p.givesWay(d) {
					break
				}
			}
			yes, message := p.isReady(d, i)
			if !yes {
				if message != "" {
					p.end(i, record.Skipped, finding{message: message})
				}
				continue
			}
			if !p.isAllowanceRecorded(i) {
				p.urgent = true
				p.requeueIn(lifecycle.Shortly)
				continue
			}
		}
		if p.States[i] == record.Pending && p.node(i).ForEach == nil {
			ready = append(ready, n)
			continue
		}
		p.run(o, d, i) // all items may have ended, and then this pass decides the dependents
	}
	p.startReady(o, d, ready)
	p.lookForTemplates()
}

// costOfPass is the cost of expressions after which a pass gives way to those of other flows: some 30 ms, in CEL's units.
const costOfPass = 250_000

// givesWay reports whether the pass leaves further expressions to the next one: after [costOfPass], unless it has decided nothing yet.
// Then the next pass would only evaluate the same expressions.
func (p *pass) givesWay(d *decision) bool {
	if d.evaluated < costOfPass || p.ended == 0 && len(d.start) == 0 {
		return false
	}
	p.urgent = true // the next pass continues from the record
	p.requeueIn(lifecycle.Shortly)
	return true
}

// canBeDecided reports whether all dependencies of a node have ended. With failFast a failure anywhere is enough.
func (p *pass) canBeDecided(i int) bool {
	if p.spec.FailFast && p.failure >= 0 && p.States[i] == record.Pending {
		return true
	}
	for _, d := range p.Dependencies(i) {
		if !p.States[d].HasEnded() {
			return false
		}
	}
	return true
}

// isReady reports whether a node that can be decided starts. message is why it is skipped; without one, it has failed.
func (p *pass) isReady(d *decision, i int) (ready bool, message string) {
	if p.spec.FailFast && p.failure >= 0 {
		return false, fmt.Sprintf("not started: %s failed, and failFast is set", p.nameOf(p.failure))
	}
	if x := p.Whens[int32(i)]; x != nil {
		return p.evaluate(d, i, x, "")
	}
	dependencies := p.Dependencies(i)
	blocking := slices.IndexFunc(dependencies, func(d int32) bool { return !p.passed(int(d)) })
	if blocking < 0 {
		return true, ""
	}
	cause := p.causeOf(d, int(dependencies[blocking]))
	d.causes[i] = int32(cause) + 1
	if p.States[cause] == record.Failed {
		return false, fmt.Sprintf("not started: %s failed", p.Names[cause])
	}
	return false, fmt.Sprintf("not started: %s is skipped", p.Names[cause])
}

// causeOf returns the node because of which a node is skipped: one that failed, or was skipped by its own expression.
func (p *pass) causeOf(d *decision, i int) int {
	if d.causes == nil {
		d.causes = make([]int32, p.Size())
	}
	var path []int
	for d.causes[i] == 0 {
		path = append(path, i)
		next := -1
		if p.States[i] == record.Skipped && p.Whens[int32(i)] == nil {
			for _, d := range p.Dependencies(i) {
				if !p.passed(int(d)) {
					next = int(d)
					break
				}
			}
		}
		if next < 0 {
			d.causes[i] = int32(i) + 1
			break
		}
		i = next
	}
	for _, at := range path {
		d.causes[at] = d.causes[i]
	}
	return int(d.causes[i]) - 1
}

// evaluate evaluates the expression of a node, and returns what isReady does. A node whose expression can't be evaluated has failed.
func (p *pass) evaluate(d *decision, i int, x *when.Expression, state v1alpha1.State) (ready bool, message string) {
	jobs := map[string]when.Job{}
	operands := p.Operands(i, x)
	d.evaluated += p.Cost(x, operands)
	for _, d := range operands {
		job := p.endOfNode(int(d))
		if x.NeedsOutputs() {
			var err error
			if job.Output, err = p.output(int(d)); err != nil {
				p.end(i, record.Failed, finding{message: "when: " + err.Error()})
				return false, ""
			}
		}
		jobs[p.Names[d]] = job
	}
	yes, err := x.Eval(p.view.Context(), jobs, string(state))
	if err != nil {
		p.end(i, record.Failed, finding{message: "when: " + err.Error()})
		return false, ""
	}
	if !yes {
		return false, "not started: when is false"
	}
	return true, ""
}

// run starts a node that is ready, unless something prevents it for the time being.
func (p *pass) run(o *observed, d *decision, i int) {
	switch {
	case p.spec.Suspend:
	case p.node(i).ForEach != nil:
		p.forEach(o, d, i)
	case p.States[i] == record.Running: // it has Jobs of items
		p.block(i, v1alpha1.ReasonEditRefused, "was started with forEach: items that haven't started wait until you restore it")
		if r := p.items[i]; r != nil {
			p.endItems(i, r)
		}
	case p.waitsForPods(o, i, -1):
	case p.mayStart(d):
		template, ok := p.template(i)
		if !ok {
			return
		}
		job, err := p.render(i, template, nil)
		if err != nil {
			p.end(i, record.Failed, finding{message: err.Error()})
			return
		}
		d.start = append(d.start, builder.Want(job, builder.CreateOnly()))
		p.active++
	}
}

// startReady starts nodes that are ready, first those with dependencies: branches that have begun end before others begin.
func (p *pass) startReady(o *observed, d *decision, ready []int32) {
	for _, comesAfter := range []bool{true, false} {
		for _, n := range ready {
			if i := int(n); (len(p.Dependencies(i)) > 0) == comesAfter {
				p.run(o, d, i)
				if p.States[i].HasEnded() {
					p.requeueIn(lifecycle.Shortly) // it has failed, so its dependents can be decided
				}
			}
		}
	}
}

// maxStarts bounds the Jobs that a pass starts in a flow with dependencies: while the builder creates Jobs, no pass observes which have
// ended.
const maxStarts = 16

// mayStart reports whether one Job more may be started.
func (p *pass) mayStart(d *decision) bool {
	if p.HasDependencies() && len(d.start) >= maxStarts {
		p.requeueIn(lifecycle.Soon)
		return false
	}
	return p.spec.Parallelism == nil || p.active < int(*p.spec.Parallelism)
}

// block adds a blocker of a node.
func (p *pass) block(i int, reason, message string) {
	p.findings[i] = finding{message: message}
	p.blockers = append(p.blockers, blocker{p.Names[i], reason, message})
}

// waitsForPods reports whether a node or an item waits for a pod of an earlier Job before it gets its Job.
func (p *pass) waitsForPods(o *observed, i, item int) bool {
	pod := o.leftover[slot{p.Names[i], item}]
	if pod != nil {
		p.waitFor(i, pod)
	}
	return pod != nil
}

// waitFor blocks a node by a pod, unless it has a message already.
func (p *pass) waitFor(i int, pod *corev1.Pod) {
	if p.findings[i].message == "" {
		p.block(i, v1alpha1.ReasonPodsTerminating, fmt.Sprintf("waits for pod %s of an earlier Job to end", pod.Name))
	}
}
