package peers

import (
	"image/color"
	"os"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// colors are told apart by people who are colour-blind, too.
var colors = map[string]color.Color{
	armature:        color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	operatorRuntime: color.RGBA{0x00, 0x72, 0xb2, 0xff},
	operatorTools:   color.RGBA{0x00, 0x9e, 0x73, 0xff},
	fluxSSA:         color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	createOrUpdate:  color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	bareCached:      color.RGBA{0x99, 0x99, 0x99, 0xff},
	bare:            color.RGBA{0x55, 0x55, 0x55, 0xff},
}

// plotTo draws time against the number of Deployments, unchanged and created, side by side.
func plotTo(file string, r results) error {
	const width, height = 24 * vg.Centimeter, 10 * vg.Centimeter
	canvas := vgsvg.New(width, height)
	left, err := r.panel(unchanged)
	if err != nil {
		return err
	}
	right, err := r.panel(created)
	if err != nil {
		return err
	}
	tiles := draw.Tiles{
		Rows: 1, Cols: 2, PadX: vg.Centimeter,
		PadTop: vg.Millimeter * 3, PadBottom: vg.Millimeter * 3, PadLeft: vg.Millimeter * 3, PadRight: vg.Millimeter * 5,
	}
	plots := [][]*plot.Plot{{left, right}}
	for i, c := range plot.Align(plots, tiles, draw.New(canvas))[0] {
		plots[0][i].Draw(c)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

func (r results) panel(scenario string) (*plot.Plot, error) {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = titles[scenario]
	p.X.Label.Text, p.Y.Label.Text = "Deployments", "milliseconds for one pass"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for _, peer := range peers {
		var points plotter.XYs
		for _, n := range r.sizes {
			if s, ok := r.of(peer.name, scenario, n); ok {
				points = append(points, plotter.XY{X: float64(n), Y: max(float64(s.Time)/float64(time.Millisecond), 0.001)})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, dots.Color = colors[peer.name], colors[peer.name]
		line.Width, dots.Shape = vg.Points(1.5), draw.CircleGlyph{}
		if peer.onlyNew {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(line, dots)
		p.Legend.Add(peer.name, line, dots)
	}
	p.Y.Max *= 30 // room for the legend
	return p, nil
}
