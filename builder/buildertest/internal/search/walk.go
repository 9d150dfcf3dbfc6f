package search

import (
	"context"
	"math/rand/v2"
	"slices"
)

// Walks are bounds of random walks.
type Walks struct {
	Number int
	Seed   uint64
	Depth  int // steps of a trace
}

// place is a state that a walk can start from.
type place[S any] struct {
	state S
	trace []string
}

// Walk takes random walks from the start and from states that no walk had seen before, each until rest. With the same seed it does the
// same.
func Walk[S any](ctx context.Context, system System[S], walks Walks) (Stats, *Failure, error) {
	var stats Stats
	start, err := system.Start()
	if err != nil {
		return stats, nil, err
	}
	random := rand.New(rand.NewPCG(walks.Seed, 0))
	seen, ends := map[Hash]bool{system.Hash(start): true}, map[Hash]bool{}
	places := []place[S]{{state: start}}
	for range walks.Number {
		at := places[random.IntN(len(places))]
		for len(at.trace) < walks.Depth {
			if err := ctx.Err(); err != nil {
				return stats, nil, err
			}
			steps, rest, err := system.Steps(at.state)
			if err != nil {
				return stats, nil, err
			}
			if rest {
				ends[system.Hash(at.state)] = true
				if err := system.Rest(at.state); err != nil {
					return stats, &Failure{at.trace, err}, nil
				}
			}
			if len(steps) == 0 {
				break
			}
			outcomes, err := system.Do(at.state, steps[random.IntN(len(steps))])
			if err != nil {
				return stats, nil, err
			}
			o := outcomes[random.IntN(len(outcomes))]
			at = place[S]{o.State, append(slices.Clip(at.trace), o.Name)}
			stats.Steps++
			stats.Depth = max(stats.Depth, len(at.trace))
			if o.Err != nil {
				return stats, &Failure{at.trace, o.Err}, nil
			}
			if hash := system.Hash(at.state); !seen[hash] {
				seen[hash] = true
				places = append(places, at)
			}
		}
		stats.Cut = stats.Cut || len(at.trace) >= walks.Depth
	}
	stats.States, stats.Ends = len(seen), len(ends)
	return stats, nil, nil
}
