package jobflow

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// decide looks at each node that hasn't ended, after its dependencies: it is skipped, started, or has to wait. Time is
// linear in nodes and edges.
func (p *pass) decide() {
	var ready []int32
	for _, n := range p.Order {
		i := int(n)
		switch {
		case i >= p.NumFlows, p.States[i].HasEnded(), p.States[i] == record.Running && p.jobs[i] != nil:
			continue
		case !p.canBeDecided(i): // also of items under way, whose list may have to be read yet
			continue
		}
		if p.States[i] == record.Pending {
			if p.evaluated >= costOfPass {
				p.startReady(ready)
				ready = nil
				if p.givesWay() {
					break
				}
			}
			yes, message := p.isReady(i)
			if !yes {
				if message != "" {
					p.end(i, record.Skipped, news{message: message})
				}
				continue
			}
			if !p.isAllowanceOnRecord(i) {
				p.urgent = true
				p.wakeIn(stopDelay)
				continue
			}
		}
		if p.States[i] == record.Pending && p.node(i).ForEach == nil {
			ready = append(ready, n)
			continue
		}
		p.run(i) // items: they may all have ended, and what comes next be decided in this pass
	}
	p.startReady(ready)
	p.lookForTemplates()
}

// costOfPass is the cost of expressions after which a pass gives way to those of other flows: some 30 ms, in CEL's units.
const costOfPass = 250_000

// givesWay reports whether a pass leaves the expressions that it hasn't evaluated to the next one. It does after [costOfPass], unless
// it has come to nothing yet: then the next pass would evaluate the same expressions.
func (p *pass) givesWay() bool {
	if p.evaluated < costOfPass || p.ended == 0 && len(p.start) == 0 {
		return false
	}
	p.urgent = true // the next pass has to know what this one has decided
	p.wakeIn(stopDelay)
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

// isReady reports whether a node that can be decided is to be started. If it is to be skipped, message says why.
func (p *pass) isReady(i int) (ready bool, message string) {
	if p.spec.FailFast && p.failure >= 0 {
		return false, fmt.Sprintf("not started: %s failed, and failFast is set", p.nameOf(p.failure))
	}
	if x := p.Whens[int32(i)]; x != nil {
		return p.evaluate(i, x, "")
	}
	dependencies := p.Dependencies(i)
	hindrance := slices.IndexFunc(dependencies, func(d int32) bool { return !p.passed(int(d)) })
	if hindrance < 0 {
		return true, ""
	}
	culprit := p.culpritOf(int(dependencies[hindrance]))
	p.culprits[i] = int32(culprit) + 1
	if p.States[culprit] == record.Failed {
		return false, fmt.Sprintf("not started: %s failed", p.Names[culprit])
	}
	return false, fmt.Sprintf("not started: %s is skipped", p.Names[culprit])
}

// culpritOf returns the node because of which one is skipped: one that failed, or was skipped by its own expression.
func (p *pass) culpritOf(i int) int {
	if p.culprits == nil {
		p.culprits = make([]int32, p.Size())
	}
	var path []int
	for p.culprits[i] == 0 {
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
			p.culprits[i] = int32(i) + 1
			break
		}
		i = next
	}
	for _, at := range path {
		p.culprits[at] = p.culprits[i]
	}
	return int(p.culprits[i]) - 1
}

// evaluate evaluates a node's expression. A node whose expression can't be evaluated has failed.
func (p *pass) evaluate(i int, x *when.Expression, state v1alpha1.State) (ready bool, message string) {
	jobs := map[string]when.Job{}
	seen := p.Operands(i, x)
	p.evaluated += p.Cost(x, seen)
	for _, d := range seen {
		job := p.endOfNode(int(d))
		if x.NeedsOutputs() {
			var err error
			if job.Output, err = p.output(int(d)); err != nil {
				p.end(i, record.Failed, news{message: "when: " + err.Error()})
				return false, ""
			}
		}
		jobs[p.Names[d]] = job
	}
	yes, err := x.Eval(p.seen.Context(), jobs, string(state))
	if err != nil {
		p.end(i, record.Failed, news{message: "when: " + err.Error()})
		return false, ""
	}
	if !yes {
		return false, "not started: when is false"
	}
	return true, ""
}

// run starts a node whose turn it is, as far as it may be.
func (p *pass) run(i int) {
	switch {
	case p.held:
	case p.node(i).ForEach != nil:
		p.forEach(i)
	case p.States[i] == record.Running: // it has Jobs of items
		p.obstruct(i, v1alpha1.ReasonEditRefused, "was started with forEach: items that haven't started wait until you restore it")
		if r := p.items[i]; r != nil {
			p.endItems(i, r)
		}
	case p.waitsForPods(i, -1):
	case p.mayStart():
		template, ok := p.template(i)
		if !ok {
			return
		}
		job, err := p.render(i, template, nil)
		if err != nil {
			p.end(i, record.Failed, news{message: err.Error()})
			return
		}
		p.start = append(p.start, builder.Want(job, builder.CreateOnly()))
		p.active++
	}
}

// startReady starts nodes whose turn it is, first those that come after others: what has been begun is brought to its end.
func (p *pass) startReady(ready []int32) {
	for _, comesAfter := range []bool{true, false} {
		for _, n := range ready {
			if i := int(n); (len(p.Dependencies(i)) > 0) == comesAfter {
				p.run(i)
				if p.States[i].HasEnded() {
					p.wakeIn(stopDelay) // it couldn't be started, which decides others
				}
			}
		}
	}
}

// startsAPass bounds the Jobs that a pass starts in a flow in which some wait for others: as long as it makes Jobs it
// doesn't notice which have ended.
const startsAPass = 16

// mayStart reports whether one Job more may be started.
func (p *pass) mayStart() bool {
	if p.HasDependencies() && len(p.start) >= startsAPass {
		p.wakeIn(time.Millisecond)
		return false
	}
	return p.spec.Parallelism == nil || p.active < int(*p.spec.Parallelism)
}

func (p *pass) obstruct(i int, reason, message string) {
	p.news[i] = news{message: message}
	p.obstacles = append(p.obstacles, obstacle{p.Names[i], reason, message})
}

func (o obstacle) String() string { return fmt.Sprintf("flow %q %s", o.node, o.message) }

// lookForTemplates looks at nodes that aren't to be started yet, so that there is time to mend what is in their way.
func (p *pass) lookForTemplates() {
	if p.held {
		return
	}
	for i := range p.NumFlows {
		if p.States[i] == record.Pending && p.spec.Flows[i].JobTemplateRef != "" && p.news[i].message == "" {
			p.template(i)
		}
	}
}

// template returns the Job spec of a node, and false if there is something in the way of having it.
func (p *pass) template(i int) (*batchv1.JobSpec, bool) {
	node := p.node(i)
	if node.JobTemplateRef == "" {
		return node.JobTemplate, true
	}
	found, ok := builder.Lookup[*v1alpha1.JobTemplate](p.seen, node.JobTemplateRef)
	if !ok {
		p.obstruct(i, v1alpha1.ReasonJobTemplateNotFound, fmt.Sprintf("waits for JobTemplate %q: %s", node.JobTemplateRef,
			field.NotFound(p.Path(i).Child("jobTemplateRef"), node.JobTemplateRef)))
		return nil, false
	}
	for j, mount := range node.ShareVolumeMounts {
		if !podtemplate.HasVolume(p.spec.ShareVolumes, mount.Name) && !podtemplate.HasVolume(found.Spec.JobTemplate.Template.Spec.Volumes, mount.Name) {
			p.obstruct(i, v1alpha1.ReasonInvalidSpec, fmt.Sprintf("neither shareVolumes nor JobTemplate %q has the volume: %s", node.JobTemplateRef,
				field.NotFound(p.Path(i).Child("shareVolumeMounts").Index(j).Child("name"), mount.Name)))
			return nil, false
		}
	}
	return &found.Spec.JobTemplate, true
}
