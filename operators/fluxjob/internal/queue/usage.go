package queue

// usage keeps account of a cohort. A setup's quota has two parts: what it may lend, which is pooled with that of the
// others, and what is always kept for it. What it uses beyond what is kept comes out of the pool.
type usage struct {
	setups []Setup
	shared int       // how many of the amounts, the first ones, aren't private to each setup
	pool   Amounts   // what all setups may lend
	kept   []Amounts // of each setup, what is not lent
	used   []Amounts // of each setup
	pooled Amounts   // what is used of the pool
}

func newUsage(setups []Setup, resources, private int) *usage {
	u := &usage{setups: setups, shared: resources - private, pool: make(Amounts, resources), pooled: make(Amounts, resources)}
	for i := range setups {
		s := &setups[i]
		kept := make(Amounts, resources)
		for r, quota := range s.Quota {
			if quota == Unlimited {
				continue
			}
			lends := min(quota, s.Lend[r])
			kept[r] = quota - lends
			u.pool[r] = sum(u.pool[r], lends)
		}
		u.kept = append(u.kept, kept)
		u.used = append(u.used, make(Amounts, resources))
	}
	return u
}

// clone returns a copy to try things on.
func (u *usage) clone() *usage {
	c := *u
	c.pooled = append(Amounts(nil), u.pooled...)
	c.used = make([]Amounts, len(u.used))
	for i := range u.used {
		c.used[i] = append(Amounts(nil), u.used[i]...)
	}
	return &c
}

func (u *usage) take(setup int, a Amounts) { u.change(setup, a, 1) }
func (u *usage) free(setup int, a Amounts) { u.change(setup, a, -1) }

func (u *usage) change(setup int, a Amounts, sign int64) {
	used, kept := u.used[setup], u.kept[setup]
	for r, n := range a {
		before := used[r]
		used[r] = max(0, sum(before, sign*n)) // less than 0 only if the sum had reached Unlimited
		if r < u.shared && u.setups[setup].Quota[r] != Unlimited {
			u.pooled[r] = max(0, sum(u.pooled[r], max(0, used[r]-kept[r])-max(0, before-kept[r])))
		}
	}
}

// fits reports whether a setup can give so much more, and if not, which resource is short.
func (u *usage) fits(setup int, a Amounts) (ok bool, short int) {
	for r, n := range a {
		if u.lack(setup, r, n) > 0 {
			return false, r
		}
	}
	return true, 0
}

// lack is how much of a resource is missing for a setup to give so much more: within what it may use at all, and within
// the pool.
func (u *usage) lack(setup, r int, n int64) int64 {
	s := &u.setups[setup]
	if n == 0 || s.Quota[r] == Unlimited {
		return 0
	}
	used, kept := u.used[setup][r], u.kept[setup][r]
	lack := sum(used, n) - sum(s.Quota[r], s.Borrow[r])
	if more := n - max(0, kept-used); more > 0 {
		lack = max(lack, sum(u.pooled[r], more)-u.pool[r])
	}
	return max(0, lack)
}

// borrows reports whether a setup that gave so much more would use more than its own quota, of something that is asked for and can be
// borrowed.
func (u *usage) borrows(setup int, a Amounts) bool { return u.exceeds(setup, a[:u.shared]) }

// exceeds reports whether a setup that gave so much more would use more than its own quota, of something that is asked for.
func (u *usage) exceeds(setup int, a Amounts) bool {
	quota, used := u.setups[setup].Quota, u.used[setup]
	for r, n := range a {
		if n > 0 && quota[r] != Unlimited && sum(used[r], n) > quota[r] {
			return true
		}
	}
	return false
}

// borrowing reports whether a setup uses more than its own quota of something that is asked for and can be borrowed.
func (u *usage) borrowing(setup int, a Amounts) bool {
	quota, used := u.setups[setup].Quota, u.used[setup]
	for r, n := range a[:u.shared] {
		if n > 0 && quota[r] != Unlimited && used[r] > quota[r] {
			return true
		}
	}
	return false
}

// isOverfull reports whether a setup uses more than its quota of something private.
func (u *usage) isOverfull(setup int) bool {
	quota, used := u.setups[setup].Quota, u.used[setup]
	for r := u.shared; r < len(used); r++ {
		if used[r] > quota[r] {
			return true
		}
	}
	return false
}

// tooLarge reports whether a setup could not give so much even if nothing were used, and of which resource.
func (u *usage) tooLarge(setup int, a Amounts) (bool, int) {
	for r, n := range a {
		if n > u.maximum(setup, r) {
			return true, r
		}
	}
	return false, 0
}

// maximum is how much of a resource a setup can give to one job if nothing is used.
func (u *usage) maximum(setup, r int) int64 {
	s := &u.setups[setup]
	if s.Quota[r] == Unlimited {
		return Unlimited
	}
	return min(sum(s.Quota[r], s.Borrow[r]), sum(u.kept[setup][r], u.pool[r]))
}

// freeOf is how much more of a resource a setup can give now.
func (u *usage) freeOf(setup, r int) int64 {
	s, used, kept := &u.setups[setup], u.used[setup][r], u.kept[setup][r]
	if s.Quota[r] == Unlimited {
		return Unlimited
	}
	pool := max(0, u.pool[r]-u.pooled[r])
	return max(0, min(sum(s.Quota[r], s.Borrow[r])-used, sum(max(0, kept-used), pool)))
}

// balances returns what each setup has.
func (u *usage) balances() []Balance {
	all := make([]Balance, len(u.setups))
	for i := range u.setups {
		b := Balance{Used: u.used[i]}
		for r := range u.pool {
			b.Free = append(b.Free, u.freeOf(i, r))
			b.Maximum = append(b.Maximum, u.maximum(i, r))
		}
		all[i] = b
	}
	return all
}
