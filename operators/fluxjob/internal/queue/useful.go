package queue

import "iter"

// mostUsefulFirst returns candidates in another order: those first who hold most of what a job lacks, and of those who
// hold as much, those who came first. Those that hold nothing of it, or terminate anyway, are left out. They are in a heap and
// not sorted, because only a few are taken, for each job that could preempt.
func (rd *round) mostUsefulFirst(job *Job, candidates []int) iter.Seq[int] {
	lacks := make(Amounts, len(job.Needs))
	for r, n := range job.Needs {
		lacks[r] = rd.after.lack(job.Setup, r, n)
	}
	ranking := make(ranks, 0, len(candidates))
	for at, v := range candidates {
		of := lacks
		if rd.Holders[v].Setup != job.Setup {
			of = lacks[:rd.after.shared]
		}
		if use := usefulness(rd.Holders[v].Holds, of); use > 0 && !rd.terminating[v] {
			ranking = append(ranking, rank{use, at})
		}
	}
	return func(yield func(int) bool) {
		for first := range ranking.inOrder() {
			if !yield(candidates[first.at]) {
				return
			}
		}
	}
}

// usefulness is how much of what is lacking someone holds: 1 for each resource of which it is all.
func usefulness(holds, lacks Amounts) float64 {
	use := 0.0
	for r, lack := range lacks {
		if lack > 0 {
			use += float64(min(lack, holds[r])) / float64(lack)
		}
	}
	return use
}

// rank is how useful a candidate is.
type rank struct {
	use float64
	at  int // among the candidates
}

func (a rank) before(b rank) bool { return a.use > b.use || (a.use == b.use && a.at < b.at) }

// ranks are candidates to choose from. Their heap is our own: package container/heap would allocate each of them.
type ranks []rank

// inOrder takes the ranks out, the first of them first, as many as are asked for.
func (r ranks) inOrder() iter.Seq[rank] {
	return func(yield func(rank) bool) {
		for i := len(r)/2 - 1; i >= 0; i-- {
			r.sink(i)
		}
		for len(r) > 0 && yield(r[0]) {
			last := len(r) - 1
			r[0], r = r[last], r[:last]
			r.sink(0)
		}
	}
}

// sink lets one down until none below it is before it.
func (r ranks) sink(i int) {
	for {
		below := 2*i + 1
		if below+1 < len(r) && r[below+1].before(r[below]) {
			below++
		}
		if below >= len(r) || !r[below].before(r[i]) {
			return
		}
		r[i], r[below] = r[below], r[i]
		i = below
	}
}
