package queuecmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// write prints queues.
func write(w io.Writer, format *output.Flag, all []Queue, now time.Time) error {
	if done, err := format.Encode(w, all); done {
		return err
	}
	var b strings.Builder
	switch {
	case format.Format == "name":
		for _, q := range all {
			if !q.Missing && !q.Hidden {
				fmt.Fprintf(&b, "fluxsetup.api.practice.com/%s\n", q.Name)
			}
		}
	case len(all) == 0:
		b.WriteString("There are no FluxSetups that you may read, and no FluxJobs that wait.\n")
	default:
		for i, q := range all {
			if i > 0 {
				b.WriteString("\n")
			}
			describe(&b, q, format.Format == "wide", now, output.PaintFor(w))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describe prints one queue.
func describe(b *strings.Builder, q Queue, wide bool, now time.Time, paint output.Paint) {
	state, colour := cmp.Or(q.Ready, "no manager has reconciled it"), output.Good
	counts := fmt.Sprintf("%d admitted, %d waiting", len(q.Admitted), len(q.Waiting))
	switch {
	case q.Hidden:
		state, colour, counts = "may not be read", output.Bad, fmt.Sprintf("%d waiting", len(q.Waiting))
	case q.Missing:
		state, colour = "doesn't exist", output.Bad
	case q.Ready != v1alpha1.ReasonActive:
		colour = output.Bad
	}
	if q.Paused {
		state, colour = state+", paused", output.Bad
	}
	fmt.Fprintf(b, "%s  %s  %s\n", paint.In(output.Bold, "FluxSetup/"+q.Name), paint.In(colour, output.Line(state)), counts)
	if wide && q.Manager != nil {
		fmt.Fprintf(b, "  managed by %s, which watches %s\n", output.Line(q.Manager.Name), admission.Namespaces(q.Manager.Namespaces))
	}
	table := func(head string, rows [][]string) {
		if len(rows) == 0 {
			return
		}
		t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "\n  "+head)
		for _, row := range rows {
			for i := range row {
				row[i] = output.Line(row[i])
			}
			fmt.Fprintln(t, "  "+strings.Join(row, "\t"))
		}
		_ = t.Flush() // a builder takes everything
	}
	var rows [][]string
	for _, u := range q.Usage {
		rows = append(rows, []string{u.Name, u.Quota.String(), u.Used.String(), u.Free.String()})
	}
	table("RESOURCE\tQUOTA\tUSED\tFREE", rows)
	rows = nil
	for _, h := range q.Admitted {
		row := []string{h.Namespace + "/" + h.Name, h.State, fmt.Sprint(h.Pods), age(now, h.Since)}
		if wide {
			row = append(row, amounts(h.Resources))
		}
		rows = append(rows, row)
	}
	table(head(wide, "ADMITTED\tSTATE\tPODS\tSINCE", "RESOURCES"), rows)
	rows = nil
	for _, j := range q.Waiting {
		place, priority := "-", "-"
		if j.Position > 0 {
			place = fmt.Sprint(j.Position)
		}
		if j.Priority != nil {
			priority = fmt.Sprint(*j.Priority)
		}
		row := []string{place, j.Namespace + "/" + j.Name, age(now, j.Since), j.Reason + why(j.Message)}
		if wide {
			row = []string{place, j.Namespace + "/" + j.Name, age(now, j.Since), priority, j.Reason + why(j.Message)}
		}
		rows = append(rows, row)
	}
	if wide {
		table("POSITION\tWAITING\tAGE\tPRIORITY\tREASON", rows)
	} else {
		table("POSITION\tWAITING\tAGE\tREASON", rows)
	}
}

func head(wide bool, text, more string) string {
	if wide {
		return text + "\t" + more
	}
	return text
}

func why(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

func age(now, since time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return duration.HumanDuration(now.Sub(since))
}

// amounts writes resources as "cpu=4,memory=8Gi".
func amounts(list corev1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		parts = append(parts, fmt.Sprintf("%s=%s", name, q.String()))
	}
	return cmp.Or(strings.Join(parts, ","), "-")
}
