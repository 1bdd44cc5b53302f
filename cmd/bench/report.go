package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/mq-server/mq/protocol"
)

// Report is the result of a run. Durations are nanoseconds in JSON.
type Report struct {
	Kind          string           `json:"kind"` // route, register or echo
	Addr          string           `json:"addr"`
	Connections   int              `json:"connections"`
	Depth         int              `json:"depth"`
	Rate          float64          `json:"rate,omitempty"`  // asked for, per second
	Elapsed       time.Duration    `json:"elapsedNanos"`    // measured part
	Answers       int64            `json:"answers"`         // measured part, whatever their code
	PerSecond     float64          `json:"perSecond"`       // successful answers
	Errors        int64            `json:"errors"`          // answers with another code than 0, lost requests and connections
	Codes         map[int32]int64  `json:"codes,omitempty"` // answers by response code
	FirstError    string           `json:"firstError,omitempty"`
	RequestBytes  float64          `json:"requestBytes"`  // mean frame size
	ResponseBytes float64          `json:"responseBytes"` // mean frame size
	Latency       Latency          `json:"latencyNanos"`
	Setup         map[string]int64 `json:"setup,omitempty"` // what the run put into the server before it began

	hist              *hdrhistogram.Histogram
	bytesIn, bytesOut int64
	sent              int64
	from, to          int64
}

// Latency holds percentiles over all answers of a run.
type Latency struct {
	Mean, P50, P90, P95, P99, P999, Max time.Duration
}

// add merges one driver's result.
func (r *Report) add(d *driver) {
	r.hist.Merge(d.hist)
	for code, n := range d.codes {
		r.Codes[code] += n
		if code != int32(protocol.RespSuccess) {
			r.Errors += n
		}
	}
	r.Answers += d.answers
	r.Errors += d.failures
	r.bytesIn += d.bytesIn
	r.bytesOut += d.bytesOut
	r.sent += d.sentRequests
	if d.measuredFrom > 0 && (r.from == 0 || d.measuredFrom < r.from) {
		r.from = d.measuredFrom
	}
	r.to = max(r.to, d.lastDone)
	if r.FirstError == "" && d.firstError != nil {
		r.FirstError = d.firstError.Error()
	}
}

func (r *Report) finish() {
	r.Elapsed = time.Duration(max(r.to-r.from, 1))
	r.PerSecond = float64(r.Codes[int32(protocol.RespSuccess)]) / r.Elapsed.Seconds()
	if r.Answers > 0 {
		r.ResponseBytes = float64(r.bytesIn) / float64(r.Answers)
	}
	if r.sent > 0 {
		r.RequestBytes = float64(r.bytesOut) / float64(r.sent)
	}
	at := func(q float64) time.Duration { return time.Duration(r.hist.ValueAtQuantile(q)) }
	r.Latency = Latency{
		Mean: time.Duration(r.hist.Mean()), P50: at(50), P90: at(90), P95: at(95), P99: at(99), P999: at(99.9),
		Max: time.Duration(r.hist.Max()),
	}
}

// WriteJSON writes the report as one line of JSON.
func (r *Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s: %d connections, %d in flight each", r.Kind, r.Addr, r.Connections, r.Depth)
	if r.Rate > 0 {
		fmt.Fprintf(&b, ", %.0f/s asked for", r.Rate)
	}
	fmt.Fprintf(&b, "\n  answers     %d in %.2fs, %.0f/s\n", r.Answers, r.Elapsed.Seconds(), r.PerSecond)
	fmt.Fprintf(&b, "  frames      request %.0f bytes, response %.0f bytes\n", r.RequestBytes, r.ResponseBytes)
	fmt.Fprintf(&b, "  latency     p50 %s  p95 %s  p99 %s  p99.9 %s  max %s\n",
		round(r.Latency.P50), round(r.Latency.P95), round(r.Latency.P99), round(r.Latency.P999), round(r.Latency.Max))
	fmt.Fprintf(&b, "  errors      %d", r.Errors)
	codes := make([]int32, 0, len(r.Codes))
	for code := range r.Codes {
		if code != int32(protocol.RespSuccess) {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	for _, code := range codes {
		fmt.Fprintf(&b, "  code %d: %d", code, r.Codes[code])
	}
	if r.FirstError != "" {
		fmt.Fprintf(&b, "  (%s)", r.FirstError)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

func round(d time.Duration) time.Duration {
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	default:
		return d.Round(100 * time.Nanosecond)
	}
}
