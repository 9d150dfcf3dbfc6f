package supervisor

import "syscall"

// ownGroup keeps the terminal's ctrl-C from the components, which are stopped in order instead. The kernel
// kills them if the supervisor dies, so that not even a hung component is left.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
