package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// KillMarked kills the processes of this user whose environment has an entry that
// begins with the mark. It finds what a shim could not take care of, because the
// shim itself was killed.
func KillMarked(mark string) {
	// A process that is being killed may have started another meanwhile.
	for range 100 {
		found := false
		entries, _ := os.ReadDir("/proc")
		for _, entry := range entries {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			environ, err := os.ReadFile("/proc/" + entry.Name() + "/environ")
			if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+mark)) {
				continue
			}
			found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
		}
		if !found {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
