package soakplan

import "time"

// faults plans what goes wrong, until shortly before the storm ends. Each kind has a rhythm of its own; of what befalls
// nodes there is one at a time.
func (s *Script) faults(d *draw) {
	often := func(from, to time.Duration, fault func() Step) {
		for at := d.between(from, to); at < s.StormEnds-10*time.Second; at += d.between(from, to) {
			step := fault()
			step.At = at
			step.Pick = d.Uint64()
			s.Storm = append(s.Storm, step)
			at += step.For
		}
	}
	often(8*time.Second, 30*time.Second, func() Step { return Step{Action: KillManager} })
	often(10*time.Second, 50*time.Second, func() Step {
		return Step{Action: KillComponent, Target: oneOf(d, "kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler")}
	})
	often(5*time.Second, 25*time.Second, func() Step { return Step{Action: DeletePod} })
	often(5*time.Second, 25*time.Second, func() Step { return Step{Action: DeleteJob} })
	often(10*time.Second, 40*time.Second, func() Step {
		return Step{
			Action: oneOf(d, FreezeKubelet, Cordon, Drain, Drain), Target: oneOf(d, nodes...),
			For: d.between(3*time.Second, 15*time.Second),
		}
	})
}
