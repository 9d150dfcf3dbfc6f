// Package monitoring tests the alert rules and the dashboard of the chart: that Prometheus accepts them, with the parser
// of promtool, and that they are about metrics that there are.
package monitoring
