package protocol

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFrameLength(t *testing.T) {
	for _, tc := range []struct {
		name   string
		prefix uint32
		limit  int
		want   int
		err    error
	}{
		{"0", 0, MaxFrame, 0, ErrFrameTooShort},
		{"3", 3, MaxFrame, 0, ErrFrameTooShort},
		{"4", 4, MaxFrame, 4, nil},
		{"9 the largest", 0x00fffffc, MaxFrame, 16777212, nil},
		{"9 one more", 0x00fffffd, MaxFrame, 0, ErrFrameTooLarge},
		{"-1 is unsigned", 0xffffffff, MaxFrame, 0, ErrFrameTooLarge},
		{"2^31-1", 0x7fffffff, MaxFrame, 0, ErrFrameTooLarge},
		{"HTTP", 0x47455420, MaxFrame, 0, ErrFrameTooLarge},
		{"a lower limit", 97, 100, 0, ErrFrameTooLarge},
		{"at a lower limit", 96, 100, 96, nil},
		{"a limit below any frame", 4, 2, 0, ErrFrameTooLarge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n, err := FrameLength(binary.BigEndian.AppendUint32(nil, tc.prefix), tc.limit)
			require.ErrorIs(t, err, tc.err)
			require.Equal(t, tc.want, n)
		})
	}
}

func TestDecodeRefusesBadFrames(t *testing.T) {
	for _, tc := range []struct {
		name, frame string
		err         error
	}{
		{"nothing", "", ErrFrameTooShort},
		{"three bytes", "000000", ErrFrameTooShort},
		{"header longer than the frame", "00000005 7b7d7b7d", ErrFrameHeaderSize},
		{"largest header", "00ffffff 7b7d", ErrFrameHeaderSize},
		{"11 codec 2", "02000002 7b7d", ErrFrameCodec},
		{"codec 255", "ff000002 7b7d", ErrFrameCodec},
		{"11 no JSON header", "00000000", ErrFrameHeader},
		{"no binary header", "01000000", ErrFrameHeader},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := DecodeCommand(unhex(t, tc.frame))
			require.ErrorIs(t, err, tc.err)
		})
	}
}

func TestAppendFrameLimit(t *testing.T) {
	c := Command{Code: 1}
	head, err := AppendFrameHeader(nil, &c, 0)
	require.NoError(t, err)
	largest := MaxFrame - len(head)

	dst := []byte("before")
	got, err := AppendFrameHeader(dst, &c, largest)
	require.NoError(t, err)
	n, err := FrameLength(got[len(dst):], MaxFrame)
	require.NoError(t, err)
	require.Equal(t, MaxFrame-4, n)

	for _, size := range []int{largest + 1, MaxFrame + 1, 1<<31 - 1} {
		got, err = AppendFrameHeader(dst, &c, size)
		require.ErrorIs(t, err, ErrFrameTooLarge)
		require.Equal(t, "before", string(got))
	}

	for _, codec := range []Codec{CodecJSON, CodecBinary} {
		got, err = AppendFrame(dst, &Command{Remark: strings.Repeat("r", 17<<20), Codec: codec})
		require.ErrorIs(t, err, ErrFrameTooLarge)
		require.Equal(t, "before", string(got))
	}
	got, err = AppendFrame(dst, &Command{Codec: 2})
	require.ErrorIs(t, err, ErrFrameCodec)
	require.Equal(t, "before", string(got))
}

// A header of many small fields must not cost much more memory than it has bytes.
func TestDecodeMemoryIsBounded(t *testing.T) {
	for _, tc := range []struct{ name, header string }{
		{"canonical", `{"extFields":{` + strings.Repeat(`"":"",`, 100_000) + `"":""}}`},
		{"lenient", `{extFields:{` + strings.Repeat(`"":0,`, 100_000) + `"":""}}`},
		{"blanks", `{` + strings.Repeat(` `, 500_000) + `}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			frame := jsonFrame(tc.header, "")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = decodeFrame(frame)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*len(frame)+1<<20))
		})
	}
}

func TestFlags(t *testing.T) {
	for flag, want := range map[int32][2]bool{0: {}, 1: {true, false}, 2: {false, true}, 3: {true, true}, 0x40000008: {}} {
		c := Command{Flag: flag}
		require.Equal(t, want, [2]bool{c.IsResponse(), c.IsOneway()}, flag)
	}
}

// The strings of a command outlive the frame that they were read from; its body does not.
func TestDecodedStringsAreCopies(t *testing.T) {
	want := Command{Code: 105, Language: LanguageGo, Opaque: 3, Remark: "why", HasRemark: true, Body: []byte("body"), Ext: Ext{
		{"topic", "orders"}, {"acceptStandardJsonOnly", "true"}, {"other", ""}, {"", "other"}, {"topic", "again"},
	}}
	for _, codec := range []Codec{CodecJSON, CodecBinary} {
		want.Codec = codec
		frame, err := AppendFrame(nil, &want)
		require.NoError(t, err)
		got, err := DecodeCommand(frame[4:])
		require.NoError(t, err)
		again, err := DecodeCommand(slices.Clone(frame[4:]))
		require.NoError(t, err)
		clear(frame)
		require.Equal(t, again.Ext, got.Ext)
		require.Equal(t, "why", got.Remark)
		require.Equal(t, make([]byte, 4), got.Body)
		if codec == CodecJSON {
			require.Equal(t, want.Ext, got.Ext)
		}
	}
}
