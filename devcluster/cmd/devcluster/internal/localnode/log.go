package localnode

import (
	"fmt"
	"strings"

	vklog "github.com/virtual-kubelet/virtual-kubelet/log"
	"k8s.io/klog/v2"
)

// logger sends virtual-kubelet's messages to klog, the log of everything else in
// this process. What virtual-kubelet calls information is every step of every pod;
// it is shown with -v=4 and up.
type logger struct{ fields string }

var _ vklog.Logger = logger{}

// falseAlarm is what virtual-kubelet says when a pod's grace period is over. The
// pod is not deleted then: see podClient.
const falseAlarm = "Force deleting pod in running state"

func (l logger) Debug(args ...any)            { l.info(5, fmt.Sprint(args...)) }
func (l logger) Debugf(f string, args ...any) { l.info(5, fmt.Sprintf(f, args...)) }
func (l logger) Info(args ...any)             { l.info(4, fmt.Sprint(args...)) }
func (l logger) Infof(f string, args ...any)  { l.info(4, fmt.Sprintf(f, args...)) }
func (l logger) Warn(args ...any)             { l.info(2, fmt.Sprint(args...)) }
func (l logger) Warnf(f string, args ...any)  { l.info(2, fmt.Sprintf(f, args...)) }

func (l logger) Error(args ...any) {
	text := fmt.Sprint(args...)
	if text == falseAlarm {
		l.info(4, text)
		return
	}
	klog.ErrorDepth(1, text+l.fields)
}

func (l logger) Errorf(f string, args ...any) { klog.ErrorDepth(1, fmt.Sprintf(f, args...)+l.fields) }
func (l logger) Fatal(args ...any)            { klog.FatalDepth(1, fmt.Sprint(args...)+l.fields) }
func (l logger) Fatalf(f string, args ...any) { klog.FatalDepth(1, fmt.Sprintf(f, args...)+l.fields) }

func (l logger) info(level klog.Level, text string) {
	if v := klog.V(level); v.Enabled() {
		v.InfoDepth(2, text+l.fields)
	}
}

func (l logger) WithField(key string, value any) vklog.Logger {
	return logger{fields: l.fields + fmt.Sprintf(" %s=%v", key, value)}
}

func (l logger) WithFields(fields vklog.Fields) vklog.Logger {
	var b strings.Builder
	b.WriteString(l.fields)
	for key, value := range fields {
		fmt.Fprintf(&b, " %s=%v", key, value)
	}
	return logger{fields: b.String()}
}

func (l logger) WithError(err error) vklog.Logger { return l.WithField("error", err) }
