//go:build linux

// Record runs a command on a terminal of its own and writes what is seen there as an animated SVG.
//
//	record -output docs/recording-watch.svg -title "armature watch" -columns 100 -rows 12 -- armature watch jobflow/x
//
// It needs a Linux machine, since that is where it knows how to make a terminal. The picture has text, so that it can be searched
// and copied, and moves without a script.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.output, "output", "", "`file` to write")
	flag.StringVar(&o.title, "title", "", "what is typed, as the picture shows it (default: the command)")
	flag.IntVar(&o.columns, "columns", 100, "width of the terminal")
	flag.IntVar(&o.rows, "rows", 24, "height of the terminal")
	flag.DurationVar(&o.atLeast, "frame", 200*time.Millisecond, "changes that follow each other sooner are shown together")
	flag.Parse()
	if err := record(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

type options struct {
	output, title string
	columns, rows int
	atLeast       time.Duration
}

// frame is what the terminal showed from some time on.
type frame struct {
	at    time.Duration
	lines []line
}

func record(o options, command []string) error {
	if o.output == "" || len(command) == 0 {
		return errors.New("want -output FILE and a command")
	}
	terminal, line, err := openTerminal(o.columns, o.rows)
	if err != nil {
		return err
	}
	defer terminal.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = line, line, line
	if err := cmd.Start(); err != nil {
		return err
	}
	line.Close()
	frames, took := watch(terminal, newScreen(o.columns, o.rows), o.atLeast, time.Now)
	if err := cmd.Wait(); err != nil { // a command that fails is worth a picture, too
		fmt.Fprintf(os.Stderr, "record: %s: %v\n", command[0], err)
	}
	return os.WriteFile(o.output, []byte(picture(o, frames, took)), 0o644)
}

// watch reads what a command prints until it has ended, and returns what was seen.
func watch(terminal io.Reader, s *screen, atLeast time.Duration, now func() time.Time) ([]frame, time.Duration) {
	var frames []frame
	begin := now()
	buffer := make([]byte, 1<<16)
	for {
		n, err := terminal.Read(buffer)
		s.write(buffer[:n])
		at := now().Sub(begin)
		if n > 0 {
			seen := frame{at, s.snapshot()}
			if last := len(frames) - 1; last >= 0 && at-frames[last].at < atLeast {
				seen.at = frames[last].at
				frames[last] = seen
			} else {
				frames = append(frames, seen)
			}
		}
		if err != nil { // the command has let go of its terminal
			return frames, at
		}
	}
}
