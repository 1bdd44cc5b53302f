package protocol

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of spec/remoting.md §4, and fact 37.
func TestVersionNames(t *testing.T) {
	for v, name := range map[Version]string{
		math.MinInt32: "V3_0_0_SNAPSHOT", -1: "V3_0_0_SNAPSHOT", 0: "V3_0_0_SNAPSHOT",
		15: "V3_0_0_FINAL", 16: "V3_0_1_SNAPSHOT", Version3_0_7Snapshot: "V3_0_7_SNAPSHOT", 36: "V3_0_11_SNAPSHOT", Version3_0_11: "V3_0_11",
		45: "V3_0_15", 46: "V3_1_0_SNAPSHOT", Version3_1_8Snapshot: "V3_1_8_SNAPSHOT", 79: "V3_2_6", 85: "V3_2_9", 86: "V3_3_1_SNAPSHOT",
		103: "V3_3_9", 105: "V3_4_1", Version3_4_9: "V3_4_9", 137: "V3_5_8", 211: "V3_9_9", 212: "V4_0_0_SNAPSHOT", 213: "V4_0_0",
		Version4_1_0Snapshot: "V4_1_0_SNAPSHOT", 317: "V4_5_2", Version4_9_3: "V4_9_3", 400: "V4_9_4_SNAPSHOT", Version4_9_4: "V4_9_4",
		407: "V4_9_7", 411: "V4_9_9", 412: "V5_0_0_SNAPSHOT", Version5_0_0: "V5_0_0", Version5_3_1: "V5_3_1", 476: "V5_3_2_SNAPSHOT",
		v479: "V5_3_3", 493: "V5_4_0", Version5_5_0: "V5_5_0", 611: "V5_9_9",
		VersionHigher: "HIGHER_VERSION", 613: "HIGHER_VERSION", 32767: "HIGHER_VERSION", math.MaxInt32: "HIGHER_VERSION",
	} {
		require.Equal(t, name, v.String(), int32(v))
	}
}

func TestVersionFormula(t *testing.T) {
	for major := 4; major <= 5; major++ {
		for minor := range 10 {
			for patch := range 10 {
				release := Version(213 + 200*(major-4) + 20*minor + 2*patch)
				name := fmt.Sprintf("V%d_%d_%d", major, minor, patch)
				require.Equal(t, name, release.String())
				require.Equal(t, name+"_SNAPSHOT", (release - 1).String())
			}
		}
	}
	seen := map[string]bool{}
	for v := range VersionHigher + 1 {
		require.False(t, seen[v.String()], v)
		seen[v.String()] = true
	}
}

// A version number may be anything. Beyond the list it counts as the newest, below it as the oldest, in every header encoding that can
// express it.
func TestN5VersionNumbers(t *testing.T) {
	for _, tc := range []struct {
		version Version
		old     bool // sends topic configs alone
		strict  bool // is sent strict JSON
	}{
		{math.MaxInt32, false, true}, {100000, false, true}, {32767, false, true}, {613, false, true}, {Version4_9_4, false, true},
		{400, false, false}, {37, false, false}, {36, true, false}, {0, true, false}, {-1, true, false}, {math.MinInt32, true, false},
	} {
		frame, err := AppendFrame(nil, &Command{Version: tc.version})
		require.NoError(t, err)
		got, err := decodeFrame(frame)
		require.NoError(t, err)
		require.Equal(t, tc.version, got.Version)
		require.NotEmpty(t, got.Version.String())
		require.Equal(t, tc.old, got.Version < Version3_0_11, int32(tc.version))
		require.Equal(t, tc.strict, got.Version >= Version4_9_4, int32(tc.version))

		if tc.version == Version(int16(tc.version)) {
			frame, err = AppendFrame(nil, &Command{Version: tc.version, Codec: CodecBinary})
			require.NoError(t, err)
			got, err = decodeFrame(frame)
			require.NoError(t, err)
			require.Equal(t, tc.version, got.Version)
		}
	}
	got, err := decodeFrame(jsonFrame(`{"code":103}`, ""))
	require.NoError(t, err)
	require.Zero(t, got.Version, "absent is the oldest")
}
