package harness

import "path/filepath"

// Forever is a shell command that ends long after every test.
const Forever = "sleep 86400"

// ScriptUntil returns a shell script that ends once a file exists. So a test decides when a pod ends: a pod that sleeps for some seconds
// may end before a slow test has seen it run. The script also ends when the file's directory is deleted, as a test's temporary one is.
func ScriptUntil(file string) string {
	return "until [ -e " + file + " ] || [ ! -d " + filepath.Dir(file) + " ]; do sleep 0.1; done"
}
