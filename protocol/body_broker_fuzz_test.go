package protocol

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any text is read or refused by each class of body. What is read is written, and read back equal.
func FuzzBrokerBodies(f *testing.F) {
	for _, b := range brokerBodies {
		f.Add([]byte(b.wire))
	}
	for _, g := range readGolden(f, "broker-bodies.jsonl") {
		if len(g.Body) < 1000 {
			f.Add([]byte(g.Body))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, b := range brokerBodies {
			body, err := b.decode(data)
			if err != nil {
				require.ErrorContains(t, err, b.class+": ")
				continue
			}
			text := body.AppendJSON(nil, FormDefault)
			again, err := b.decode(text)
			require.NoError(t, err, string(text))
			if strings.HasSuffix(b.class, "Wrapper") {
				// A version that is null, or has a counter that is null, is left out and read back as its default.
				body = again
				text = body.AppendJSON(nil, FormDefault)
				again, err = b.decode(text)
				require.NoError(t, err, string(text))
			}
			require.Equal(t, string(text), string(again.AppendJSON(nil, FormDefault)), b.class)

			strict := body.AppendJSON(nil, FormStrict)
			again, err = b.decode(strict)
			require.NoError(t, err, string(strict))
			require.Equal(t, string(strict), string(again.AppendJSON(nil, FormStrict)), b.class)
			if b.class != "ResetOffsetBody" && b.class != "GetConsumerStatusBody" {
				require.True(t, json.Valid(strict), string(strict))
			}
			pretty, err := b.decode(AppendPretty(nil, body))
			require.NoError(t, err)
			require.Equal(t, string(strict), string(pretty.AppendJSON(nil, FormStrict)), b.class)
		}
	})
}
