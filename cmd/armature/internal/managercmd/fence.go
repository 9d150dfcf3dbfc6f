package managercmd

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var (
	errLeaseLost = errors.New("leader election lost: another manager leads")
	errFenced    = errors.New("nothing is written any more: the lease was not renewed in time, and another manager may lead soon")
)

// fence keeps a leader that stood still for longer than its lease lasts, because it was frozen or had no CPU, from working on
// beside its successor. Client-go alone lets it: it begins a renewal, sees another holder, and tries again for the whole of the
// renew deadline before it gives up.
//
// It is the lease's lock, and so knows for how long its holder may write: for the renew deadline, by this machine's monotonic
// clock and by its wall clock, whichever is faster. The monotonic clock stands still while the machine is suspended, and the
// wall clock may be set back. After that it lets no write through, and once it sees another holder, lost is closed. What is left
// of the lease is for writes to arrive: see around.
type fence struct {
	resourcelock.Interface
	lease lease
	now   func() time.Time
	lost  chan struct{}

	mu sync.Mutex
	// holder is who had the lease when it was last read or written.
	holder string
	// until is how long the holder may write. It is zero as long as it never could.
	until time.Time
	// second is that of the last attempt to renew it, and began is when the first attempt in it did.
	second int64
	began  time.Time
}

func newFence(lock resourcelock.Interface, l lease) *fence {
	return &fence{Interface: lock, lease: l, now: time.Now, lost: make(chan struct{})}
}

// Get reads the lease.
func (f *fence) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := f.Interface.Get(ctx)
	if err == nil {
		f.saw(record.HolderIdentity)
	}
	return record, raw, err
}

// Create makes the lease.
func (f *fence) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.write(record, func() error { return f.Interface.Create(ctx, record) })
}

// Update takes, renews or releases the lease.
func (f *fence) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.write(record, func() error { return f.Interface.Update(ctx, record) })
}

func (f *fence) write(record resourcelock.LeaderElectionRecord, ask func() error) error {
	if record.HolderIdentity == f.Identity() {
		f.writing(record)
		err := ask()
		if err == nil {
			f.written()
		}
		return err
	}
	if err := f.releasing(); err != nil {
		return err
	}
	return ask()
}

// releasing closes the fence before the lease is released: passes may still be at work, if the lease is given up because it
// could not be renewed. It refuses to release the lease of another one: client-go would, since it reads the lease first,
// doesn't check its holder, and then writes to that version.
func (f *fence) releasing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = f.now().Add(-1)
	if f.holder != f.Identity() {
		return errLeaseLost
	}
	return nil
}

// writing notes when a request begins: others count from when they see it, which is later. But they compare records in which
// times are whole seconds (client-go's LeaderElectionRecord in JSON), and so can't show that a lease was renewed for a second
// time in one. They count from the first, which may have reached the API server even if the answer did not come back.
func (f *fence) writing(record resourcelock.LeaderElectionRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if second := record.RenewTime.Unix(); second != f.second || f.began.IsZero() {
		f.second, f.began = second, f.now()
	}
}

// written counts from there.
func (f *fence) written() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holder, f.until = f.Identity(), f.began.Add(f.lease.renewDeadline)
}

func (f *fence) saw(holder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holder = holder
	if holder == f.Identity() || f.until.IsZero() {
		return
	}
	select {
	case <-f.lost:
	default:
		close(f.lost)
	}
}

// closed reports whether the holder could write, and may not any more. A wall clock that is set forward closes the fence until the
// next renewal.
func (f *fence) closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	wall, wallUntil := now.Round(0), f.until.Round(0) // without their monotonic readings
	return !f.until.IsZero() && (now.After(f.until) || wall.After(wallUntil))
}
