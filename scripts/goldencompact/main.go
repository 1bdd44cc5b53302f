// Command goldencompact turns a directory of golden transcripts into the compact form that namesrv's replay test reads.
//
//	go run ./scripts/goldencompact DIR FILE.jsonl.gz
//
// DIR holds one indented JSON file per scenario, with readable fields beside every frame. FILE gets one line per scenario with
// what a replay needs and no more; namesrv/testdata/README.md describes it.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: goldencompact DIR FILE.jsonl.gz")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, file string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.json")) // sorted
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no scenario in %s", dir)
	}
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(zip)
	lines.SetEscapeHTML(false)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		line, err := compact(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// object is a JSON object whose members stay text until they are looked at.
type object map[string]json.RawMessage

func compact(text []byte) (object, error) {
	var sc object
	if err := json.Unmarshal(text, &sc); err != nil {
		return nil, err
	}
	for _, unused := range []string{"about", "server", "residue"} {
		delete(sc, unused)
	}
	properties, err := propertiesText(sc["properties"])
	if err != nil {
		return nil, err
	}
	sc["properties"] = properties
	var steps []object
	if err := json.Unmarshal(sc["steps"], &steps); err != nil {
		return nil, err
	}
	for _, st := range steps {
		if err := compactStep(st); err != nil {
			return nil, fmt.Errorf("step %s: %w", st["step"], err)
		}
	}
	sc["steps"], err = marshal(steps)
	return sc, err
}

// propertiesText turns the ordered members of an object of strings into the text of a properties file.
func propertiesText(raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("properties are no object")
	}
	var text strings.Builder
	for d.More() {
		var pair [2]string
		for i := range pair {
			t, err := d.Token()
			if err != nil {
				return nil, err
			}
			s, ok := t.(string)
			if !ok {
				return nil, errors.New("a property is no string")
			}
			pair[i] = s
		}
		text.WriteString(pair[0] + "=" + pair[1] + "\n")
	}
	return marshal(text.String())
}

// compactStep replaces the messages of a step by their bytes.
func compactStep(st object) error {
	if raw, ok := st["request"]; ok {
		var request struct{ Opaque json.RawMessage }
		if err := json.Unmarshal(raw, &request); err != nil {
			return err
		}
		if request.Opaque != nil {
			st["opaque"] = request.Opaque
		}
	}
	for _, name := range []string{"request", "response"} {
		raw, ok := st[name]
		if !ok {
			continue
		}
		m, err := compactMessage(raw)
		if err != nil {
			return err
		}
		if st[name], err = marshal(m); err != nil {
			return err
		}
	}
	if raw, ok := st["frames"]; ok {
		var frames []json.RawMessage
		if err := json.Unmarshal(raw, &frames); err != nil {
			return err
		}
		short := make([]message, len(frames))
		for i, f := range frames {
			var err error
			if short[i], err = compactMessage(f); err != nil {
				return err
			}
		}
		var err error
		if st["frames"], err = marshal(short); err != nil {
			return err
		}
	}
	return nil
}

// message is a frame: header and body where these are text and give the frame back, else the whole frame in hex.
type message struct {
	Header string `json:"header,omitempty"`
	Body   string `json:"body,omitempty"`
	Hex    string `json:"hex,omitempty"`
}

func compactMessage(raw json.RawMessage) (message, error) {
	var full struct{ Frame string }
	if err := json.Unmarshal(raw, &full); err != nil {
		return message{}, err
	}
	frame, err := hex.DecodeString(full.Frame)
	if err != nil {
		return message{}, err
	}
	if len(frame) >= 8 && utf8.Valid(frame[8:]) {
		total, word := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
		if int64(total) == int64(len(frame)-4) && int64(word) <= int64(len(frame)-8) { // codec 0, JSON, is the word's top byte
			return message{Header: string(frame[8 : 8+word]), Body: string(frame[8+word:])}, nil
		}
	}
	return message{Hex: full.Frame}, nil
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
