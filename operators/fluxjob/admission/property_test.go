package admission

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// fakeServer is an API server with the setups and jobs of two managers, each of which sees one namespace. A write is refused if
// the version that was read isn't the latest.
type fakeServer struct {
	setups   []*v1alpha1.FluxSetup
	jobs     []*v1alpha1.FluxJob
	versions map[string]int
	second   int
}

// fakeManager is a manager whose caches lag behind until they are refreshed.
type fakeManager struct {
	Manager
	server   *fakeServer
	skew     int // of its clock, in seconds
	setups   []*v1alpha1.FluxSetup
	jobs     []*v1alpha1.FluxJob
	versions map[string]int
}

func key(o client.Object) string { return fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName()) }

// seeSetups refreshes the cache of the setups, all of which it shows as of one moment, and seeJobs that of the jobs.
func (m *fakeManager) seeSetups() {
	m.setups = slices.Clone(m.server.setups)
	for _, s := range m.setups {
		m.versions[key(s)] = m.server.versions[key(s)]
	}
}

func (m *fakeManager) seeJobs() {
	m.jobs = nil
	for _, job := range m.server.jobs {
		if m.Sees(job.Namespace) {
			m.jobs = append(m.jobs, job)
			m.versions[key(job)] = m.server.versions[key(job)]
		}
	}
}

// write reports whether a write of what this manager has seen is accepted.
func (m *fakeManager) write(o client.Object) bool {
	if m.versions[key(o)] != m.server.versions[key(o)] {
		return false
	}
	m.server.versions[key(o)]++
	return true
}

// pass runs the plan of a setup, and writes its status.
func (m *fakeManager) pass(i int) {
	var seen []client.Object
	for _, s := range m.setups {
		seen = append(seen, s)
	}
	for _, job := range m.jobs {
		seen = append(seen, job)
	}
	for _, name := range []string{"a", "b"} {
		seen = append(seen, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	p := m.Plan(m.setups[i], buildertest.WithWatched(buildertest.NewView(at(m.server.second+m.skew).Time), seen...))
	if p.Status == nil || !m.write(m.setups[i]) {
		return
	}
	after := m.server.setups[i].DeepCopy()
	after.Status = *p.Status.Status.DeepCopy()
	m.server.setups[i] = after
	m.seeSetups() // its own writes it sees, and with them all that came before
}

// step lets the job of an index accept its reservation, or end.
func (m *fakeManager) step(i int) {
	job := m.jobs[i].DeepCopy()
	switch a := job.Status.Admission; {
	case job.Status.CompletionTime != nil:
		return
	case a != nil:
		job.Status.Admission, job.Status.CompletionTime = nil, &metav1.Time{Time: at(m.server.second).Time}
	default:
		for _, s := range m.setups {
			for _, r := range s.Status.Reservations {
				if s.Name == job.Spec.Queue && r.UID == job.UID && r.Attempt == job.Status.Attempts+1 {
					job.Status.Attempts++
					job.Status.Admission = &v1alpha1.FluxAdmission{Queue: s.Name, Time: r.Time, Generation: r.Generation, Size: r.Size, Pods: r.Pods, Resources: r.Resources}
				}
			}
		}
		if job.Status.Admission == nil {
			return
		}
	}
	if !m.write(job) {
		return
	}
	for n, other := range m.server.jobs {
		if other.UID == job.UID {
			m.server.jobs[n] = job
		}
	}
	m.seeJobs()
}

// holding counts the jobs that hold a share or may accept one.
func (s *fakeServer) holding() int {
	n := 0
	for _, job := range s.jobs {
		holds := job.Status.Admission != nil
		for _, setup := range s.setups {
			holds = holds || slices.ContainsFunc(setup.Status.Reservations, func(r v1alpha1.FluxReservation) bool {
				return r.UID == job.UID && r.Attempt > job.Status.Attempts
			})
		}
		if holds {
			n++
		}
	}
	return n
}

// Two managers, of which each sees half of the jobs, with caches that lag and clocks that differ, never give more than the quota,
// whatever the order of their steps; and if one of them is gone, the other one's jobs run in the end.
func TestTwoManagersOfPartsNeverGiveMoreThanTheQuota(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quota := rapid.IntRange(1, 2).Draw(t, "quota")
		server := &fakeServer{versions: map[string]int{}}
		names := []string{"q"}
		if rapid.Bool().Draw(t, "cohort") {
			names = []string{"p", "q"}
		}
		for _, name := range names {
			setup := makeSetup(name, clusters(int32(quota)), unmanaged)
			if len(names) > 1 {
				setup.Spec.Cohort = "lab"
			}
			server.setups = append(server.setups, setup)
		}
		for i := range 6 {
			queue := rapid.SampledFrom(names).Draw(t, "queue")
			server.jobs = append(server.jobs, makeJob(fmt.Sprintf("job-%d", i), i, in([]string{"a", "b"}[i%2]), inQueue(queue)))
		}
		most := quota * len(names)
		managers := []*fakeManager{{Manager: ofA, server: server}, {Manager: ofB, server: server, skew: rapid.SampledFrom([]int{-4000, 0, 4000}).Draw(t, "skew")}}
		for _, m := range managers {
			m.versions = map[string]int{}
			m.seeSetups()
			m.seeJobs()
		}
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			m := rapid.SampledFrom(managers).Draw(t, "manager")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				m.seeSetups()
			case 1:
				m.seeJobs()
			case 2:
				server.second += rapid.SampledFrom([]int{1, 200, 900}).Draw(t, "seconds")
			case 3, 4, 5:
				m.step(rapid.IntRange(0, len(m.jobs)-1).Draw(t, "job"))
			default:
				m.pass(rapid.IntRange(0, len(names)-1).Draw(t, "setup"))
			}
			require.LessOrEqual(t, server.holding(), most)
		}

		alive := managers
		if gone := rapid.IntRange(-1, 1).Draw(t, "gone"); gone >= 0 {
			// Its jobs are over one day, and an administrator has taken what they held out of the book.
			for i, job := range server.jobs {
				if managers[gone].Sees(job.Namespace) {
					job = job.DeepCopy()
					job.Status.Admission = nil
					server.jobs[i] = job
				}
			}
			for i, s := range server.setups {
				s = s.DeepCopy()
				s.Status.Reservations = slices.DeleteFunc(s.Status.Reservations, func(r v1alpha1.FluxReservation) bool { return managers[gone].Sees(r.Namespace) })
				server.setups[i] = s
				server.versions[key(s)]++
			}
			alive = managers[1-gone : 2-gone]
		}
		for range 30 {
			server.second += int((2 * time.Minute).Seconds())
			for _, m := range alive {
				for i := range names {
					m.seeSetups()
					m.seeJobs()
					m.pass(i)
				}
				for i := range m.jobs {
					m.seeSetups()
					m.seeJobs()
					m.step(i)
					require.LessOrEqual(t, server.holding(), most)
				}
			}
		}
		for _, m := range alive {
			for _, job := range m.jobs {
				require.NotNil(t, job.Status.CompletionTime, "%s of %s: %+v", job.Name, m, server.setups[0].Status)
			}
		}
	})
}
